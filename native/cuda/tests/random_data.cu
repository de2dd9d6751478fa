#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "cuda/check.h"
#include "cuda/tests/random_data.h"

namespace dcpscope::cuda::tests {
namespace {

constexpr int kThreads = 128;
constexpr int kMaxKeyDim = 768;
constexpr uint64_t kQueries = 0x71;
constexpr uint64_t kKeys = 0x6b;
constexpr float kNeedleOfQuery = 0.0625f;
constexpr int kGroups = 4;
constexpr int kGroup = 128;

__device__ uint64_t scramble(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  return x ^ (x >> 32);
}

__device__ uint64_t rowHash(uint32_t seed, uint64_t stream, uint64_t outer, uint64_t inner) {
  return scramble(scramble((uint64_t(seed) << 8 | stream) + (outer << 40)) + inner + 1);
}

/** Sum of four uniform values: mean 0, variance 1. */
__device__ float normal(uint64_t row, int d) {
  const uint64_t bits = scramble(row + uint64_t(d + 1) * 0x9e3779b97f4a7c15ULL);
  const uint32_t sum = uint32_t(bits & 0xffff) + uint32_t(bits >> 16 & 0xffff) +
                       uint32_t(bits >> 32 & 0xffff) + uint32_t(bits >> 48);
  return (float(sum) / 65536.0f - 2.0f) * 1.7320508f;
}

__device__ float direction(int d) { return scramble(uint64_t(d) + 77) & 1 ? 1.0f : -1.0f; }

/** Amplitude of the needle in a key: a few of growing rarity, 0 for most keys. */
__device__ float needle(uint64_t row) {
  const uint64_t bits = scramble(row ^ 0x5eed);
  if (bits % 61 != 0) return 0;
  const int height = __clz(uint32_t(bits >> 32)) + 1;
  return fminf(float(height), kLargestNeedle);
}

__global__ void writeQueries(__nv_bfloat16* q, int dim, bool needles, uint32_t seed) {
  const uint64_t row = rowHash(seed, kQueries, 0, blockIdx.x);
  for (int d = threadIdx.x; d < dim; d += kThreads) {
    const float lean = needles ? kNeedleOfQuery * direction(d) : 0.0f;
    q[int64_t(blockIdx.x) * dim + d] = __float2bfloat16_rn(normal(row, d) + lean);
  }
}

__device__ uint8_t toE4m3(float value) { return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3); }

__global__ void writeKeys(KeyRows rows) {
  __shared__ float values[kMaxKeyDim];
  const int dim = rows.latent + rows.rope;
  const int64_t token = blockIdx.x;
  const uint64_t hash =
      rowHash(rows.seed + 7919U * uint32_t(rows.part), kKeys, uint64_t(rows.request), uint64_t(token));
  const float amplitude = rows.needles ? needle(hash) : 0.0f;
  for (int d = threadIdx.x; d < dim; d += kThreads) {
    values[d] = __bfloat162float(__float2bfloat16_rn(normal(hash, d) + amplitude * direction(d)));
  }
  __syncthreads();

  const int64_t slot = int64_t(rows.pages[token / rows.pageSize]) * rows.pageSize + token % rows.pageSize;
  auto* to = static_cast<uint8_t*>(rows.pool) + slot * rows.tokenBytes;
  if (rows.kv == KvType::bf16) {
    auto* row = reinterpret_cast<__nv_bfloat16*>(to);
    for (int d = threadIdx.x; d < dim; d += kThreads) row[d] = __float2bfloat16_rn(values[d]);
    return;
  }
  if (rows.kv == KvType::fp8) {
    for (int d = threadIdx.x; d < dim; d += kThreads) to[d] = toE4m3(__fdiv_rn(values[d], rows.kvScale));
    return;
  }
  const int group = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  float largest = 0;
  for (int d = lane; d < kGroup; d += 32) largest = fmaxf(largest, fabsf(values[group * kGroup + d]));
  for (int step = 16; step > 0; step /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, step));
  }
  const float scale = __fdiv_rn(fmaxf(largest, 1e-4f), 448.0f);
  for (int d = lane; d < kGroup; d += 32) {
    to[group * kGroup + d] = toE4m3(__fdiv_rn(values[group * kGroup + d], scale));
  }
  if (lane == 0) reinterpret_cast<float*>(to + kGroups * kGroup)[group] = scale;
  auto* rope = reinterpret_cast<__nv_bfloat16*>(to + kGroups * (kGroup + int(sizeof(float))));
  for (int d = threadIdx.x; d < rows.rope; d += kThreads) {
    rope[d] = __float2bfloat16_rn(values[rows.latent + d]);
  }
}

}  // namespace

void fillQueries(void* q, int64_t rows, int dim, bool needles, uint32_t seed) {
  writeQueries<<<unsigned(rows), kThreads>>>(static_cast<__nv_bfloat16*>(q), dim, needles, seed);
  launched("filling queries");
}

void fillKeys(const KeyRows& rows, int64_t tokens) {
  if (tokens == 0) return;
  writeKeys<<<unsigned(tokens), kThreads>>>(rows);
  launched("filling keys");
}

}  // namespace dcpscope::cuda::tests
