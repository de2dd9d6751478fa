#pragma once
#include <cstdint>

#include "core/device_code.h"
#include "core/generate.h"
#include "core/hash.h"

/**
 * Keys that an indexer would choose for sparse attention, as a pure function of (seed, layer, request,
 * position of the query, index). A query token has `topk` global positions, distinct and below what it sees,
 * in no order: its needles (generate.h) that it sees, so that they matter as with a real indexer, and a
 * hashed choice of the others. When it sees fewer than `topk` keys each is chosen once and the remaining
 * entries are -1, spread over the list.
 */
namespace dcpscope {

/** A bijection of 0 .. n - 1 that `key` picks, at `i`. */
static inline DCPSCOPE_HD uint32_t permuted(uint64_t key, uint32_t n, uint32_t i) {
  int bits = 1;
  while (bits < 32 && (n - 1) >> bits != 0) ++bits;
  const uint32_t mask = bits == 32 ? 0xffffffffU : (1U << bits) - 1U;
  const int shift = (bits + 1) / 2;
  const auto lo = static_cast<uint32_t>(key);
  const auto hi = static_cast<uint32_t>(key >> 32);
  uint32_t x = i;
  // Each step is a bijection of `bits` bits; what falls outside 0 .. n - 1 is walked on until it is inside.
  do {
    x = (x ^ lo) & mask;
    x = (x * 0x9e3779b1U) & mask;
    x ^= x >> shift;
    x = (x + hi) & mask;
    x = (x * 0x85ebca6bU) & mask;
    x ^= x >> shift;
    x = (x * 0xc2b2ae35U) & mask;
    x ^= x >> shift;
  } while (x >= n);
  return x;
}

/** The choice of one query token. */
struct TopkRow {
  uint64_t order;
  uint64_t choice;
  uint32_t visible;
  uint32_t topk;
  /** Needles that the token sees, ascending, each once. */
  uint32_t needles;
  uint32_t needleAt[kNeedles];
};

/** `source` is the request's data (needles); `visible`: global positions below it are seen. topk >= 1. */
static inline DCPSCOPE_HD TopkRow topkRow(uint32_t seed, int layer, int request, int64_t position,
                                          int64_t visible, int topk, const Source& source) {
  const uint64_t h =
      mix64(streamHash(seed, Stream::topk, static_cast<uint64_t>(layer), static_cast<uint64_t>(request)) ^
            static_cast<uint64_t>(position));
  TopkRow row{h, mix64(h), visible > 0 ? static_cast<uint32_t>(visible) : 0U, static_cast<uint32_t>(topk),
              0, {}};
  for (int i = 0; i < source.needles; ++i) {
    if (source.needleAt[i] >= visible) continue;
    const auto at = static_cast<uint32_t>(source.needleAt[i]);
    uint32_t place = 0;
    while (place < row.needles && row.needleAt[place] < at) ++place;
    if (place < row.needles && row.needleAt[place] == at) continue;
    for (uint32_t k = row.needles; k > place; --k) row.needleAt[k] = row.needleAt[k - 1];
    row.needleAt[place] = at;
    ++row.needles;
  }
  return row;
}

/** Global position of entry j of the list, 0 <= j < topk; -1 for none. */
static inline DCPSCOPE_HD int32_t topkId(const TopkRow& row, int j) {
  const uint32_t place = permuted(row.order, row.topk, static_cast<uint32_t>(j));
  if (place >= row.visible) return -1;
  if (place < row.needles) return static_cast<int32_t>(row.needleAt[place]);
  // Others are counted without the needles, which are then stepped over.
  uint32_t id = permuted(row.choice, row.visible - row.needles, place - row.needles);
  for (uint32_t i = 0; i < row.needles; ++i)
    if (id >= row.needleAt[i]) ++id;
  return static_cast<int32_t>(id);
}

}  // namespace dcpscope
