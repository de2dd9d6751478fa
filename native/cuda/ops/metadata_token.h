#pragma once
#include "core/deal.h"
#include "cuda/ops/metadata.h"

namespace dcpscope::cuda {

/** How the tokens of a request are dealt out. */
static inline DCPSCOPE_HD Deal dealIn(const MetadataTask& task, int request) {
  return {task.own.ranks, task.own.interleave,
          task.prompts == nullptr ? Deal::kGoesOn : task.prompts[request]};
}

/** Slot of the token at a position of a request, -1 where another rank stores it or there is none. */
static inline DCPSCOPE_HD int64_t slotIn(const MetadataTask& task, int request, int64_t position) {
  const Ownership& own = task.own;
  const Deal deal = dealIn(task, request);
  if (position >= task.after[request] || deal.owner(position) != own.rank) return -1;
  const int64_t local = deal.localIndex(position);
  const int32_t page = task.pageTable[task.tableBegin[request] + local / own.pageSize];
  return layout::slot(page, local, own.pageSize);
}

/** What the kernel writes for query token `token`, and with the first one of a request its length. */
static inline DCPSCOPE_HD void writeMetadata(const MetadataTask& task, int token) {
  const int request = token / task.qLen;
  const int q = token % task.qLen;
  const Deal deal = dealIn(task, request);
  const int64_t after = task.after[request];
  if (q == 0) task.lengths[request] = static_cast<int32_t>(deal.localLength(after, task.own.rank));
  const int64_t visible = layout::visibleGlobal(after, task.qLen, q);
  task.bounds[token] = static_cast<int32_t>(deal.localLength(visible, task.own.rank));
  task.slots[token] = slotIn(task, request, task.before[request] + q);
}

}  // namespace dcpscope::cuda
