#pragma once
#include <cstdint>

#include "core/generate.h"
#include "core/kv_type.h"
#include "core/topk.h"

/**
 * Unsharded attention in double precision on regenerated keys, quantised as the cache quantises them: the
 * truth that merged rows are compared with.
 */
namespace dcpscope {

/** Heads of one reference call and keys of one tile. */
constexpr int kReferenceHeads = 16;
constexpr int kReferenceTile = 32;

/** One query token, some heads, a range of global positions. */
struct ReferenceTask {
  Source source;
  const GenerateKernels* generate;
  KvType kvType;
  /** kvScale of the run. */
  float kvScale;
  int64_t queryPosition;
  /** Heads firstHead, firstHead + headStride, ... ; `heads` of them, at most kReferenceHeads. */
  int firstHead;
  int headStride;
  int heads;
  int keyDim;
  int valueDim;
  /** KV heads, 0 with MLA, and query heads that share one. */
  int kvHeads;
  int groupHeads;
  /** softmax scale * log2(e). */
  double scale2;
  /** Sparse: the keys that the token chose; null: dense. */
  const TopkRow* topk;
  /** Global positions, or entries of the list of `topk`, keyBegin <= i < keyEnd. */
  int64_t keyBegin;
  int64_t keyEnd;
  /** Stops early when it becomes non-zero. */
  const int* cancel;
};

/** Not normalised: acc [heads][valueDim] = sum of 2^(s - top) * value, total = sum of 2^(s - top), base-2
 * scores. */
struct ReferencePartial {
  double* acc;
  double top[kReferenceHeads];
  double total[kReferenceHeads];
};

/** Doubles of working memory for one call. */
constexpr int64_t referenceScratch(int keyDim) {
  return static_cast<int64_t>(kReferenceHeads + kReferenceTile + 1) * (keyDim + 8) +
         kReferenceHeads * kReferenceTile;
}

struct ReferenceKernels {
  void (*attend)(const ReferenceTask& task, double* scratch, ReferencePartial& out);
};

}  // namespace dcpscope
