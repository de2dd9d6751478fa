#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/generated.cuh"
#include "cuda/ops/inputs.h"
#include "cuda/ops/launch.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
/** 16-byte words that one thread copies, all in flight at once. */
constexpr int kWordsPerThread = 4;

/** One warp a row: the heads of a token, then what a cache keeps of it. */
__global__ void __launch_bounds__(kThreads) inputsKernel(InputsTask task, int64_t rows) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
  if (row >= rows) return;
  const int parts = cachedRows(task.kvHeads);
  const int perToken = task.heads + parts;
  const int token = static_cast<int>(row / perToken);
  const int head = static_cast<int>(row % perToken);
  const int request = token / task.qLen;
  const int64_t position = task.before[request] + token % task.qLen;
  const Source& source = task.sources[request];
  const int part = head - task.heads;
  const RowSpec spec = part >= 0 ? cachedRow(source, position, part, task.kvHeads)
                                 : queryRow(source, position, task.firstHead + head);
  uint16_t* to = part >= 0 ? static_cast<uint16_t*>(task.keys) +
                                 (static_cast<int64_t>(token) * parts + part) * task.keyDim
                           : static_cast<uint16_t*>(task.queries) +
                                 (static_cast<int64_t>(token) * task.heads + head) * task.keyDim;
  for (int d = static_cast<int>(threadIdx.x) % kWarp * 4; d < task.keyDim; d += kWarp * 4)
    *reinterpret_cast<uint2*>(to + d) = generatedFour(spec, d);
}

__global__ void __launch_bounds__(kThreads)
    copyKernel(const uint4* from, uint4* to, int64_t words, Stamps stamps) {
  const BlockStamp stamp(stamps);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads * kWordsPerThread + threadIdx.x;
  uint4 held[kWordsPerThread];
#pragma unroll
  for (int i = 0; i < kWordsPerThread; ++i)
    if (first + i * kThreads < words) held[i] = from[first + i * kThreads];
#pragma unroll
  for (int i = 0; i < kWordsPerThread; ++i)
    if (first + i * kThreads < words) to[first + i * kThreads] = held[i];
  stamp.end();
}

}  // namespace

void makeInputs(const InputsTask& task, cudaStream_t stream) {
  const int64_t rows =
      static_cast<int64_t>(task.requests) * task.qLen * (task.heads + cachedRows(task.kvHeads));
  inputsKernel<<<blocksFor(rows, kWarps), kThreads, 0, stream>>>(task, rows);
  launched("inputs");
}

void gatherQueries(const void* from, void* to, int64_t bytes, cudaStream_t stream, Stamps stamps) {
  const int64_t words = bytes / static_cast<int64_t>(sizeof(uint4));
  copyKernel<<<blocksFor(words, kThreads * kWordsPerThread), kThreads, 0, stream>>>(
      static_cast<const uint4*>(from), static_cast<uint4*>(to), words, stamps);
  launched("q_all_gather");
}

}  // namespace dcpscope::cuda
