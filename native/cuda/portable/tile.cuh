#pragma once
#include <cstdint>

#include "core/config.h"
#include "core/quantise.h"

/** Sizes of the attention kernel: who computes what, and where things lie in shared memory. */
namespace dcpscope::cuda::portable {

constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
/** What every GPU from sm_80 on gives one block. */
constexpr int kSharedLimit = 99 * 1024;
/** Values of padding behind each row, so that eight rows of a matrix lie in different banks. */
constexpr int kPadding = 8;
constexpr int kMaxValueDim = 512;
constexpr int kMaxRopeDim = 256;
/** 16-column groups of the values that one warp accumulates at most. */
constexpr int kGroupsPerWarp = kMaxValueDim / 16 / kWarps;

constexpr int kDsMlaLatent = dsmla::kLatent;
constexpr int kDsMlaRope = dsmla::kRope;
constexpr int kDsMlaBytes = dsmla::kRowBytes;

/** Bytes of one cached row: with MLA all of a token, else its key or its value of one KV head. */
constexpr int rowBytes(KvType kv, int keyDim) {
  return kv == KvType::bf16 ? 2 * keyDim : kv == KvType::fp8 ? keyDim : kDsMlaBytes;
}

/**
 * Tile of kRows query rows and kKeys keys. With MLA a value is the first part of its key; `grouped`: it is a
 * row of its own, which lies behind the key in shared memory. For the scores each warp takes 16 rows,
 * kColumnTiles * 8 keys and every kDepthParts-th step of the key's width; for the values, all rows and a
 * share of the columns.
 */
template <KvType kv, int rows, int keys, bool grouped = false>
struct Tile {
  static constexpr KvType kKv = kv;
  static constexpr bool kGrouped = grouped;
  static constexpr int kRows = rows;
  static constexpr int kKeys = keys;
  static constexpr int kRowTiles = rows / 16;
  static constexpr int kKeyGroups = rows == 32 ? 1 : keys / 8;
  static constexpr int kColumnTiles = keys / 8 / kKeyGroups;
  static constexpr int kDepthParts = kWarps / (kRowTiles * kKeyGroups);
  /** Softmax: threads of one row, and scores of one thread. */
  static constexpr int kRowThreads = kThreads / rows;
  static constexpr int kScores = keys / kRowThreads;
  static constexpr int kKeysPerWarp = keys / kWarps;

  /** Quantised rows are copied as they are and spread to bf16 from there; bf16 rows alternate in two buffers.
   */
  static constexpr bool kQuantised = kv != KvType::bf16;
  static constexpr int kKeyBuffers = kQuantised ? 1 : 2;

  /** Row stride, in values, of scores and probabilities. */
  static constexpr int kScoreStride = keys + kPadding;

  /** Where the parts lie in shared memory, in bytes; behind those of fixed size come queries, keys and raw
   * rows. */
  static constexpr int kScoresAt = 0;
  static constexpr int kProbabilitiesAt = kScoresAt + kDepthParts * rows * kScoreStride * 4;
  static constexpr int kFactorsAt = kProbabilitiesAt + rows * kScoreStride * 2;
  static constexpr int kLsesAt = kFactorsAt + rows * 4;
  static constexpr int kBoundsAt = kLsesAt + rows * 4;
  static constexpr int kValidAt = kBoundsAt + rows * 4;
  static constexpr int kPieceAt = kValidAt + 2 * keys * 4;
  static constexpr int kQueriesAt = kPieceAt + 48;
  static_assert(kQueriesAt % 16 == 0);

  /** Cached rows that lie in one row of keys, and where its values begin there, in values. */
  static constexpr int kRowsOfKey = grouped ? 2 : 1;
  static constexpr int valueAt(int keyDim) { return grouped ? keyDim : 0; }

  /** Bytes of one row of queries, and of keys; of the queries, of one buffer of keys, and of the raw rows. */
  static constexpr int queryStride(int keyDim) { return 2 * (keyDim + kPadding); }
  static constexpr int keyStride(int keyDim) { return 2 * (kRowsOfKey * keyDim + kPadding); }
  static constexpr int queryBytes(int keyDim) { return rows * queryStride(keyDim); }
  static constexpr int keyBytes(int keyDim) { return keys * keyStride(keyDim); }
  static constexpr int rawStride(int keyDim) { return kRowsOfKey * rowBytes(kv, keyDim); }
  static constexpr int rawBytes(int keyDim) { return kQuantised ? keys * rawStride(keyDim) : 0; }
  static constexpr int sharedBytes(int keyDim) {
    return kQueriesAt + queryBytes(keyDim) + kKeyBuffers * keyBytes(keyDim) + rawBytes(keyDim);
  }
};

}  // namespace dcpscope::cuda::portable
