#include "core/bf16.h"
#include "cuda/check.h"
#include "cuda/ops/faults.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/values.cuh"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;

/** One thread for eight values; the first of a row also writes its lse. */
template <bool Fp32>
__global__ void __launch_bounds__(kThreads) fillKernel(PartialFill task) {
  const int64_t perRow = task.valueDim / kEight;
  const int64_t at = task.first * perRow + static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= task.end * perRow) return;
  float values[kEight];
#pragma unroll
  for (float& value : values) value = task.outValue;
  storeEight(task.out, at, narrow<Fp32>(values));
  if (at % perRow == 0) task.lse[at / perRow] = task.lseValue;
}

__global__ void __launch_bounds__(kThreads) roundKernel(float* values, int64_t count) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) values[i] = fromBf16(toBf16(values[i]));
}

__global__ void __launch_bounds__(kThreads)
    ruleKernel(NeutralRule rule, int tokens, const int32_t* bounds, int32_t* ruled) {
  const int token = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (token < tokens) ruled[token] = rule.clears(token, bounds[token]) ? 0 : 1;
}

/** One thread for 16 bytes. */
__global__ void __launch_bounds__(kThreads) misreadKernel(MisreadTask task) {
  constexpr int kWord = sizeof(uint4);
  const int perRow = task.rowBytes / kWord;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= task.rows * perRow) return;
  const int64_t from = at / perRow * (task.stepBytes / kWord) + at % perRow;
  const bool inside = (from + 1) * kWord <= task.poolBytes;
  static_cast<uint4*>(task.seen)[at] = inside ? static_cast<const uint4*>(task.pool)[from] : uint4{};
}

}  // namespace

void fillPartial(const PartialFill& task, cudaStream_t stream) {
  const int64_t eights = (task.end - task.first) * task.valueDim / kEight;
  if (eights <= 0) return;
  choose(task.outFp32, [&](auto fp32) {
    fillKernel<fp32.value><<<blocksFor(eights, kThreads), kThreads, 0, stream>>>(task);
  });
  launched("filling a partial");
}

void roundToBf16(float* values, int64_t count, cudaStream_t stream) {
  roundKernel<<<blocksFor(count, kThreads), kThreads, 0, stream>>>(values, count);
  launched("rounding an lse");
}

void ruleBounds(const NeutralRule& rule, int tokens, const int32_t* bounds, int32_t* ruled,
                cudaStream_t stream) {
  ruleKernel<<<blocksFor(tokens, kThreads), kThreads, 0, stream>>>(rule, tokens, bounds, ruled);
  launched("the rule of neutralising");
}

void misread(const MisreadTask& task, cudaStream_t stream) {
  const int64_t words = task.rows * (task.rowBytes / static_cast<int>(sizeof(uint4)));
  misreadKernel<<<blocksFor(words, kThreads), kThreads, 0, stream>>>(task);
  launched("misreading a pool");
}

}  // namespace dcpscope::cuda
