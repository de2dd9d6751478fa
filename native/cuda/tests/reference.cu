#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/generate.h"
#include "cuda/check.h"
#include "cuda/tests/reference.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kHeads = 8;
constexpr int kKeys = 16;
constexpr int kColumns = 2;
constexpr int kMaxValueDim = kThreads * kColumns;
constexpr int kDsMlaLatent = 512;
constexpr int kDsMlaGroup = 128;
constexpr int kDsMlaBytes = 656;

struct Problem {
  AttentionShape shape;
  AttentionInputs in;
  int tokens;
  int splits;
  /** Keys of one split. */
  int64_t chunk;
  double scale;
  /** KV heads, 1 with MLA; query heads that share one, and blocks that share these. */
  int kvHeads;
  int groupHeads;
  int headBlocks;
  /** Bytes of a cached row, of a token, and from a key to its value; 0: the value is part of the key. */
  int64_t rowBytes;
  int64_t tokenBytes;
  int64_t valueAt;
};

__device__ float fromE4m3(uint8_t code) {
  const int exponent = (code >> 3) & 15;
  const int mantissa = code & 7;
  if (exponent == 15 && mantissa == 7) return nanf("");
  const float magnitude =
      exponent == 0 ? ldexpf(float(mantissa), -9) : ldexpf(float(8 + mantissa), exponent - 10);
  return code & 0x80 ? -magnitude : magnitude;
}

/** Value d of a cached row; for the per-tensor format still without its scale. */
__device__ float cached(KvType type, const uint8_t* row, int d) {
  if (type == KvType::fp8) return fromE4m3(row[d]);
  if (type == KvType::bf16) return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(row)[d]);
  if (d >= kDsMlaLatent) {
    const auto* rope = reinterpret_cast<const __nv_bfloat16*>(row + kDsMlaBytes - 128);
    return __bfloat162float(rope[d - kDsMlaLatent]);
  }
  const float scale = reinterpret_cast<const float*>(row + kDsMlaLatent)[d / kDsMlaGroup];
  const float rounded = __bfloat162float(__float2bfloat16_rn(scale));
  return __bfloat162float(__float2bfloat16_rn(fromE4m3(row[d]) * rounded));
}

int64_t rowBytes(const AttentionShape& shape) {
  if (shape.kvType == KvType::fp8) return shape.keyDim;
  return shape.kvType == KvType::bf16 ? 2 * shape.keyDim : kDsMlaBytes;
}

/** Row in the pool of the i-th key of query token t, -1 where there is none. */
__device__ int64_t slotOf(const Problem& p, int t, int64_t i) {
  if (p.shape.topk > 0) return p.in.slots[int64_t(t) * p.shape.topk + i];
  const int request = t / p.shape.qLen;
  const int64_t page = p.in.pageTable[p.in.tableBegin[request] + i / p.shape.pageSize];
  return page * p.shape.pageSize + i % p.shape.pageSize;
}

/**
 * Block (split, head group, token): softmax over the split's keys, 16 at a time. Leaves the unnormalised sum
 * [split][T][H][V], the largest score and the sum of weights [split][T][H].
 */
__global__ void __launch_bounds__(kThreads)
    attendSplit(Problem p, double* sums, double* maxima, double* weights) {
  extern __shared__ double memory[];
  const int D = p.shape.keyDim;
  const int V = p.shape.valueDim;
  const int H = p.shape.heads;
  double* q = memory;                   // [kHeads][D]
  double* prob = q + kHeads * D;        // [kHeads][kKeys]
  double* top = prob + kHeads * kKeys;  // [kHeads] each
  double* factor = top + kHeads;
  float* key = reinterpret_cast<float*>(factor + kHeads);  // [kKeys][D + 1]
  // [kKeys][D + 1]: the keys themselves, or values of their own.
  float* values = p.valueAt == 0 ? key : key + kKeys * (D + 1);
  __shared__ bool valid[kKeys];

  const int thread = threadIdx.x;
  const int t = blockIdx.z;
  const int kvHead = blockIdx.y / p.headBlocks;
  const int firstHead = kvHead * p.groupHeads + blockIdx.y % p.headBlocks * kHeads;
  const int endHead = min(firstHead + kHeads, (kvHead + 1) * p.groupHeads);
  const int64_t count = p.shape.topk > 0 ? p.shape.topk : p.in.bounds[t];
  const int64_t begin = blockIdx.x * p.chunk;
  const int64_t end = min(begin + p.chunk, count);

  for (int i = thread; i < kHeads * D; i += kThreads) {
    const int head = firstHead + i / D;
    const auto* rows = static_cast<const __nv_bfloat16*>(p.in.q);
    q[i] = head < endHead ? __bfloat162float(rows[(int64_t(t) * H + head) * D + i % D]) : 0.0;
  }
  if (thread < kHeads) top[thread] = -INFINITY;

  double sum[kHeads][kColumns] = {};
  double weight[kHeads] = {};
  for (int64_t tile = begin; tile < end; tile += kKeys) {
    __syncthreads();
    for (int k = thread / 32; k < kKeys; k += kThreads / 32) {
      const int64_t slot = tile + k < end ? slotOf(p, t, tile + k) : -1;
      const uint8_t* row = static_cast<const uint8_t*>(p.in.pool) + slot * p.tokenBytes + kvHead * p.rowBytes;
      for (int d = thread % 32; d < D; d += 32) {
        key[k * (D + 1) + d] = slot < 0 ? 0.0f : cached(p.shape.kvType, row, d);
        if (p.valueAt > 0)
          values[k * (D + 1) + d] = slot < 0 ? 0.0f : cached(p.shape.kvType, row + p.valueAt, d);
      }
      if (thread % 32 == 0) valid[k] = slot >= 0;
    }
    __syncthreads();

    const int head = thread / 2 / kKeys;
    const int k = thread / 2 % kKeys;
    double dot = 0;
    for (int d = thread % 2; d < D; d += 2) dot += q[head * D + d] * key[k * (D + 1) + d];
    dot += __shfl_xor_sync(0xffffffffU, dot, 1);
    if (thread % 2 == 0) prob[head * kKeys + k] = valid[k] ? dot * p.scale : -INFINITY;
    __syncthreads();

    if (thread < kHeads) {
      double largest = top[thread];
      for (int i = 0; i < kKeys; ++i) largest = fmax(largest, prob[thread * kKeys + i]);
      factor[thread] = largest == -INFINITY ? 1.0 : exp(top[thread] - largest);
      top[thread] = largest;
    }
    __syncthreads();
    if (thread < kHeads * kKeys) {
      const double score = prob[thread];
      prob[thread] = score == -INFINITY ? 0.0 : exp(score - top[thread / kKeys]);
    }
    __syncthreads();

    for (int h = 0; h < kHeads; ++h) {
      weight[h] *= factor[h];
      for (int c = 0; c < kColumns; ++c) sum[h][c] *= factor[h];
    }
    for (int i = 0; i < kKeys; ++i) {
      double value[kColumns];
      for (int c = 0; c < kColumns; ++c) {
        const int d = thread + c * kThreads;
        value[c] = d < V ? values[i * (D + 1) + d] : 0.0;
      }
      for (int h = 0; h < kHeads; ++h) {
        const double w = prob[h * kKeys + i];
        weight[h] += w;
        for (int c = 0; c < kColumns; ++c) sum[h][c] += w * value[c];
      }
    }
  }
  __syncthreads();

  const double unit = p.shape.kvType == KvType::fp8 ? double(p.in.kvScale) : 1.0;
  for (int h = 0; firstHead + h < endHead; ++h) {
    const int64_t row = (int64_t(blockIdx.x) * p.tokens + t) * H + firstHead + h;
    for (int c = 0; c < kColumns; ++c) {
      const int d = thread + c * kThreads;
      if (d < V) sums[row * V + d] = sum[h][c] * unit;
    }
    if (thread == 0) {
      maxima[row] = top[h];
      weights[row] = weight[h];
    }
  }
}

/** Block (head, token): merges the splits. */
__global__ void mergeSplits(Problem p, const double* sums, const double* maxima, const double* weights,
                            double* out, double* lse) {
  const int64_t rows = int64_t(p.tokens) * p.shape.heads;
  const int64_t row = int64_t(blockIdx.y) * p.shape.heads + blockIdx.x;
  const int V = p.shape.valueDim;
  double largest = -INFINITY;
  for (int s = 0; s < p.splits; ++s) largest = fmax(largest, maxima[s * rows + row]);
  // A split of nothing but NaN has no maximum either: its weight tells it from one without keys.
  double total = 0;
  for (int s = 0; s < p.splits; ++s) {
    const double weight = weights[s * rows + row];
    if (weight != 0) total += exp(maxima[s * rows + row] - largest) * weight;
  }
  for (int d = threadIdx.x; d < V; d += blockDim.x) {
    double value = 0;
    for (int s = 0; s < p.splits; ++s) {
      if (weights[s * rows + row] == 0) continue;
      value += exp(maxima[s * rows + row] - largest) / total * sums[(s * rows + row) * V + d];
    }
    out[row * V + d] = value;
  }
  if (threadIdx.x == 0) {
    const double natural = total == 0 ? -INFINITY : largest + log(total);
    lse[row] = p.in.base2 ? natural / log(2.0) : natural;
  }
}

int64_t longestRow(const AttentionShape& shape, const AttentionInputs& inputs, int tokens) {
  if (shape.topk > 0) return shape.topk;
  std::vector<int32_t> bounds(static_cast<size_t>(tokens));
  cudaCheck(cudaMemcpy(bounds.data(), inputs.bounds, bounds.size() * sizeof(int32_t), cudaMemcpyDeviceToHost),
            "reading bounds");
  return *std::max_element(bounds.begin(), bounds.end());
}

}  // namespace

void referenceAttention(const AttentionShape& shape, const AttentionInputs& inputs, double* out, double* lse,
                        cudaStream_t stream) {
  if (shape.kvType == KvType::fp32 || shape.valueDim > kMaxValueDim) {
    throw EngineError(ErrorCode::config,
                      "the reference attends bf16 and fp8 caches of at most 512 value columns");
  }
  const int tokens = shape.requests * shape.qLen;
  cudaCheck(cudaStreamSynchronize(stream), "waiting for the inputs of the reference");
  const int64_t longest = std::max<int64_t>(1, longestRow(shape, inputs, tokens));
  const int64_t rows = int64_t(tokens) * shape.heads;
  const int64_t rowMemory = rows * (shape.valueDim + 2) * int64_t(sizeof(double));
  const int64_t mostSplits = std::clamp<int64_t>((int64_t(1) << 29) / rowMemory, 1, 64);
  const int64_t chunk = std::max<int64_t>(1024, (longest + mostSplits - 1) / mostSplits);
  const int splits = int((longest + chunk - 1) / chunk);
  double unit = shape.kvType == KvType::fp8 ? double(inputs.kvScale) : 1.0;
  const int kvHeads = std::max(shape.kvHeads, 1);
  const int groupHeads = shape.heads / kvHeads;
  const int headBlocks = (groupHeads + kHeads - 1) / kHeads;
  const Problem problem{shape,
                        inputs,
                        tokens,
                        splits,
                        chunk,
                        unit * double(inputs.softmaxScale),
                        kvHeads,
                        groupHeads,
                        headBlocks,
                        rowBytes(shape),
                        cachedRows(shape.kvHeads) * rowBytes(shape),
                        shape.kvHeads * rowBytes(shape)};

  double* memory = nullptr;
  cudaCheck(cudaMalloc(&memory, size_t(splits * rowMemory)), "memory of the reference");
  double* maxima = memory + splits * rows * shape.valueDim;
  double* weights = maxima + splits * rows;

  const int shared = int((kHeads * shape.keyDim + kHeads * kKeys + 2 * kHeads) * sizeof(double) +
                         cachedRows(std::min(shape.kvHeads, 1)) * kKeys * (shape.keyDim + 1) * sizeof(float));
  cudaCheck(cudaFuncSetAttribute(attendSplit, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
            "shared memory of the reference");
  const dim3 grid(unsigned(splits), unsigned(kvHeads * headBlocks), unsigned(tokens));
  attendSplit<<<grid, kThreads, size_t(shared), stream>>>(problem, memory, maxima, weights);
  launched("reference attention");
  mergeSplits<<<dim3(unsigned(shape.heads), unsigned(tokens)), kThreads, 0, stream>>>(problem, memory, maxima,
                                                                                      weights, out, lse);
  launched("merging the reference's splits");
  cudaCheck(cudaStreamSynchronize(stream), "reference attention");
  cudaCheck(cudaFree(memory), "memory of the reference");
}

}  // namespace dcpscope::cuda
