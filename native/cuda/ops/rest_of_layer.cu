#include <algorithm>

#include "cuda/device.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/multiply.cuh"
#include "cuda/ops/rest_of_layer.h"

namespace dcpscope::cuda {
namespace {

constexpr int kReaders = 256;
constexpr int kThreads = kMultiplyThreads + kReaders;
/** 16-byte words that a reader asks for at once, and how many such batches are under way: 48 KB a block at
 * least. */
constexpr int kBatch = 2;
constexpr int kBatches = 7;
/** What the readers of a block ask for at once. */
constexpr int kBatchBytes = kReaders * kBatch * 16;
/** Neighbouring bytes that a block reads. */
constexpr int kBatchesPerStripe = 8;
constexpr int64_t kStripeBytes = int64_t{kBatchBytes} * kBatchesPerStripe;
/** Operands, then what was read. Below 99 KB, the least that a block of any GPU from sm_80 on can have. */
constexpr int kSharedBytes = kOperandBytes + kBatches * kBatchBytes;
/** Of buffers: several times the caches of the largest GPUs, and what a few layers of a large model take. */
constexpr int64_t kLeastBuffer = int64_t{512} << 20;
constexpr int64_t kMostBuffer = int64_t{4} << 30;

struct Plan {
  int64_t stripes;
  /** Of the buffer. */
  int64_t bufferStripes;
  int64_t steps;
};

__device__ inline void copyAsync(uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

/** Brings the block's stripes into shared memory, where nobody looks at them. `into` is the reader's first
 * word. */
__device__ inline void readAll(const RestTask& task, const Plan& plan, int64_t cursor, uint32_t into) {
  const auto reader = static_cast<int>(threadIdx.x) - kMultiplyThreads;
  const auto* weights = static_cast<const uint8_t*>(task.weights) + reader * 16;
  uint32_t slot = 0;
  for (int64_t stripe = blockIdx.x; stripe < plan.stripes; stripe += gridDim.x) {
    const auto at = static_cast<uint32_t>(cursor + stripe) % static_cast<uint32_t>(plan.bufferStripes);
    const uint8_t* from = weights + at * kStripeBytes;
    const int64_t left = task.bytes - stripe * kStripeBytes - reader * 16;
    for (int64_t b = 0; b < kStripeBytes && b < left; b += kBatchBytes) {
#pragma unroll
      for (int64_t j = 0; j < kBatchBytes; j += kReaders * 16)
        if (b + j < left) copyAsync(into + slot * kBatchBytes + static_cast<uint32_t>(j), from + b + j);
      asm volatile("cp.async.commit_group;" ::: "memory");
      asm volatile("cp.async.wait_group %0;" ::"n"(kBatches - 1) : "memory");
      slot = slot + 1 < kBatches ? slot + 1 : 0;
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
}

/** Where this call begins; the last block to ask moves the cursor on for the next call. */
__device__ inline int64_t takeCursor(RestState* state, const Plan& plan) {
  const auto cursor = static_cast<int64_t>(*static_cast<volatile uint64_t*>(&state->cursor));
  __threadfence();
  if (atomicAdd(&state->arrived, 1U) == gridDim.x - 1) {
    state->cursor = static_cast<uint64_t>((cursor + plan.stripes) % plan.bufferStripes);
    state->arrived = 0;
  }
  return cursor;
}

__global__ void __launch_bounds__(kThreads, 1) restKernel(RestTask task, Plan plan, Stamps stamps) {
  const BlockStamp stamp(stamps);
  extern __shared__ __align__(1024) uint8_t memory[];
  __shared__ int64_t cursor;
  auto* operands = reinterpret_cast<uint32_t*>(memory);
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == kMultiplyThreads && plan.stripes > 0) cursor = takeCursor(task.state, plan);
  for (int i = thread; i < kOperandBytes / 4; i += kThreads)
    operands[i] = operandPair(static_cast<uint32_t>(i));
  fenceOperands();
  __syncthreads();
  // The same for all threads of a warp, which the compiler has to know where it uses the tensor cores.
  const bool multiplies = __shfl_sync(0xffffffffU, thread / kMultiplyThreads, 0) == 0;
  if (multiplies) {
    const auto block = static_cast<int64_t>(blockIdx.x);
    const int64_t steps = plan.steps / gridDim.x + (block < plan.steps % gridDim.x ? 1 : 0);
    const float total = multiply(operands, steps);
    if (__float_as_uint(total) == 0x7fc0dcbaU) task.state->sink = 1;
  } else if (plan.stripes > 0) {
    readAll(task, plan, cursor,
            static_cast<uint32_t>(__cvta_generic_to_shared(memory + kOperandBytes)) +
                static_cast<uint32_t>(thread - kMultiplyThreads) * 16);
  }
  stamp.end();
}

}  // namespace

int64_t restBufferBytes(int64_t bytes) {
  if (bytes <= 0) return 0;
  const int64_t whole = (std::min(bytes, kMostBuffer) + kStripeBytes - 1) / kStripeBytes * kStripeBytes;
  return std::clamp(whole, kLeastBuffer, kMostBuffer);
}

void restOfLayer(const RestTask& task, cudaStream_t stream, Stamps stamps) {
  if (task.bytes > 0 && task.bufferBytes < kStripeBytes)
    throw EngineError(ErrorCode::engine, "rest_of_layer: the buffer of weights is below 64 KB");
  const Plan plan{(task.bytes + kStripeBytes - 1) / kStripeBytes, task.bufferBytes / kStripeBytes,
                  (task.flops + kStepFlops - 1) / kStepFlops};
  cudaCheck(cudaFuncSetAttribute(restKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
            "rest_of_layer");
  restKernel<<<deviceAttribute(cudaDevAttrMultiProcessorCount), kThreads, kSharedBytes, stream>>>(task, plan,
                                                                                                  stamps);
  launched("rest_of_layer");
}

}  // namespace dcpscope::cuda
