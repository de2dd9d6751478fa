#pragma once
#include <cstdint>

#include "core/kv_type.h"

/** Decode attention of some query rows of one request over a range of one rank's paged keys. */
namespace dcpscope {

struct AttentionTask {
  /** [rows][keyDim] floats for a fp32 cache, else bf16 bits; at most kUnitRows rows. */
  const void* q;
  int rows;
  /** Visible local keys of each row; [rows]. Not used when sparse. */
  const int32_t* bounds;
  /** The first key of the rank's pool, [pages][pageSize] rows of rowBytes bytes, and the request's pages by
   * column. */
  const unsigned char* pool;
  int rowBytes;
  const int32_t* pages;
  int pageSize;
  /** Bytes from a key to its value, which has a row of its own; 0: the value is the first part of the key. */
  int valueAt;
  /** Sparse: slots in the pool of the keys that all rows see, -1 for none; null: dense. */
  const int32_t* slots;
  int keyDim;
  int valueDim;
  KvType kvType;
  /** softmax scale * log2(e), with that of an fp8 cache; the output is in units of the latter. */
  float scale2;
  /** Local keys, or entries of `slots`, keyBegin <= l < keyEnd. */
  int64_t keyBegin;
  int64_t keyEnd;
  /** Stops early when it becomes non-zero; the result is then garbage. */
  const int* cancel;
};

/** Not normalised: acc [rows][valueDim] = sum of 2^(s - top) * value; total 0 and top -inf where no key is
 * seen. */
struct AttentionPartial {
  float* acc;
  float* top;
  float* total;
};

/** Floats of working memory for one call: queries, a tile of keys, scores. */
constexpr int64_t attentionScratch(int keyDim, int unitRows, int tileKeys) {
  return static_cast<int64_t>(unitRows + tileKeys) * (keyDim + 16) +
         static_cast<int64_t>(unitRows) * tileKeys;
}

struct AttentionKernels {
  void (*attend)(const AttentionTask& task, float* scratch, const AttentionPartial& out);
};

}  // namespace dcpscope
