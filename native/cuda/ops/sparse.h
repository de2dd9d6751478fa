#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/fault_rules.h"
#include "cuda/ops/cache.h"

/** Keys of sparse attention: what an indexer would choose, and what a rank makes of it. T = requests * qLen.
 */
namespace dcpscope::cuda {

struct ChooseTask {
  uint32_t seed;
  int layer;
  int requests;
  int qLen;
  int topk;
  /** Data of the layer by request (device): needles are among the chosen. */
  const Source* sources;
  /** Global length without and with the new tokens [requests], on the device. */
  const int64_t* before;
  const int64_t* after;
  /** Out: global ids [T][topk], -1 for none. */
  int32_t* ids;
};

void chooseKeys(const ChooseTask& task, cudaStream_t stream);

struct LocalizeTask {
  Ownership own;
  int requests;
  int qLen;
  int topk;
  /** Global ids [T][topk], -1 for none. */
  const int32_t* ids;
  const int32_t* pageTable;
  const int64_t* tableBegin;
  /** Out: slot of each id that the rank owns [T][topk], -1 for the others, at the same places. */
  int32_t* slots;
  /** Out: ids of each token that the rank owns [T]: the keys that its row sees here. */
  int32_t* bounds;
};

void localize(const LocalizeTask& task, cudaStream_t stream, Stamps stamps);

/** The same by the rule of a fault, with how many columns the page table of each request has [requests]. */
void localizeBy(const ChoiceRule& rule, const int32_t* columns, const LocalizeTask& task, cudaStream_t stream,
                Stamps stamps);

}  // namespace dcpscope::cuda
