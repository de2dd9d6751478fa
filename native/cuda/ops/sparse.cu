#include "core/layout.h"
#include "core/topk.h"
#include "cuda/check.h"
#include "cuda/ops/block_stamp.h"
#include "cuda/ops/launch.h"
#include "cuda/ops/sparse.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;

/** One block a query token. */
__global__ void __launch_bounds__(kThreads) chooseKernel(ChooseTask task) {
  const int token = static_cast<int>(blockIdx.x);
  const int request = token / task.qLen;
  const int q = token % task.qLen;
  const int64_t visible = layout::visibleGlobal(task.after[request], task.qLen, q);
  const TopkRow row = topkRow(task.seed, task.layer, request, task.before[request] + q, visible, task.topk,
                              task.sources[request]);
  int32_t* ids = task.ids + static_cast<int64_t>(token) * task.topk;
  for (int j = static_cast<int>(threadIdx.x); j < task.topk; j += kThreads) ids[j] = topkId(row, j);
}

/** core/layout.h in 32 bits, which positions below 2^31 fit: a 64-bit division costs as much as the whole
 * rest. */
__device__ inline int32_t slotOf(const Ownership& own, uint32_t position, const int32_t* pages) {
  const auto interleave = static_cast<uint32_t>(own.interleave);
  const uint32_t turn = position / interleave;
  const auto ranks = static_cast<uint32_t>(own.ranks);
  const uint32_t cycle = turn / ranks;
  if (turn - cycle * ranks != static_cast<uint32_t>(own.rank)) return -1;
  const uint32_t local = cycle * interleave + (position - turn * interleave);
  const auto pageSize = static_cast<uint32_t>(own.pageSize);
  const uint32_t column = local / pageSize;
  return pages[column] * own.pageSize + static_cast<int32_t>(local - column * pageSize);
}

/** What an id leads to, and whether it counts as a key. */
struct Found {
  int32_t slot;
  bool counts;
};

/** One block a query token; `find` is given an id and the page ids of the request. */
template <class Find>
__device__ inline void localizeToken(const LocalizeTask& task, Find&& find) {
  __shared__ int owned[kWarps];
  const int token = static_cast<int>(blockIdx.x);
  const int32_t* pages = task.pageTable + task.tableBegin[token / task.qLen];
  const int64_t at = static_cast<int64_t>(token) * task.topk;
  int count = 0;
  for (int j = static_cast<int>(threadIdx.x); j < task.topk; j += kThreads) {
    const Found found = find(task.ids[at + j], pages);
    task.slots[at + j] = found.slot;
    count += found.counts ? 1 : 0;
  }
  count = __reduce_add_sync(0xffffffffU, count);
  if (threadIdx.x % kWarp == 0) owned[threadIdx.x / kWarp] = count;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (const int part : owned) total += part;
    task.bounds[token] = total;
  }
}

__global__ void __launch_bounds__(kThreads) localizeKernel(LocalizeTask task, Stamps stamps) {
  const BlockStamp stamp(stamps);
  localizeToken(task, [&](int32_t id, const int32_t* pages) {
    const int32_t slot = id < 0 ? -1 : slotOf(task.own, static_cast<uint32_t>(id), pages);
    return Found{slot, slot >= 0};
  });
  stamp.end();
}

__global__ void __launch_bounds__(kThreads)
    localizeByKernel(ChoiceRule rule, const int32_t* columns, LocalizeTask task, Stamps stamps) {
  const BlockStamp stamp(stamps);
  const int32_t own = columns[static_cast<int>(blockIdx.x) / task.qLen];
  localizeToken(task, [&](int32_t id, const int32_t* pages) {
    const Choice choice = rule.of(id);
    return Found{choice.slot(pages, own, task.own.pageSize), choice.counts};
  });
  stamp.end();
}

}  // namespace

void chooseKeys(const ChooseTask& task, cudaStream_t stream) {
  chooseKernel<<<blocksFor(static_cast<int64_t>(task.requests) * task.qLen, 1), kThreads, 0, stream>>>(task);
  launched("choice of keys");
}

void localize(const LocalizeTask& task, cudaStream_t stream, Stamps stamps) {
  localizeKernel<<<blocksFor(static_cast<int64_t>(task.requests) * task.qLen, 1), kThreads, 0, stream>>>(
      task, stamps);
  launched("localize");
}

void localizeBy(const ChoiceRule& rule, const int32_t* columns, const LocalizeTask& task, cudaStream_t stream,
                Stamps stamps) {
  localizeByKernel<<<blocksFor(static_cast<int64_t>(task.requests) * task.qLen, 1), kThreads, 0, stream>>>(
      rule, columns, task, stamps);
  launched("localize");
}

}  // namespace dcpscope::cuda
