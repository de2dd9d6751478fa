#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/config.h"

namespace dcpscope::cuda::tests {

/** Largest magnitude of a random value, and the amplitude of the largest needle. */
constexpr float kLargestValue = 3.4641016f;
constexpr float kLargestNeedle = 8;

/** Fills [rows][dim] bf16 with values of mean 0 and variance 1; with needles, leaning towards the needles'
 * direction. */
void fillQueries(void* q, int64_t rows, int dim, bool needles, uint32_t seed);

/** Where rows of the tokens of one request lie, and how they are written. */
struct KeyRows {
  /** The first row, those of neighbouring slots `tokenBytes` apart. */
  void* pool;
  int64_t tokenBytes;
  /** Which of the rows of a token this is. */
  int part;
  /** Page ids of the request, on the device. */
  const int32_t* pages;
  int pageSize;
  KvType kv;
  int latent;
  int rope;
  /** Unit of an fp8 cache. */
  float kvScale;
  bool needles;
  uint32_t seed;
  int request;
};

/** Writes a row of each of the first `tokens` tokens of a request, quantised as the contract of the format
 * says. */
void fillKeys(const KeyRows& rows, int64_t tokens);

/** Bytes of one row in the pool. */
inline int64_t poolRowBytes(KvType kv, int keyDim) {
  if (kv == KvType::fp8DsMla) return 656;
  return kv == KvType::fp8 ? keyDim : kv == KvType::bf16 ? 2 * int64_t(keyDim) : 4 * int64_t(keyDim);
}

}  // namespace dcpscope::cuda::tests
