#include "cuda/run/stages.h"

#include <algorithm>

#include "core/capture.h"
#include "core/source.h"
#include "cuda/check.h"
#include "cuda/ops/cache.h"
#include "cuda/ops/inputs.h"
#include "cuda/ops/kernel_lse.h"
#include "cuda/ops/metadata.h"
#include "cuda/ops/neutralize.h"
#include "cuda/ops/rest_of_layer.h"
#include "cuda/ops/sparse.h"

namespace dcpscope::cuda {

Stages::Stages(const RunState& state, const Sizes& sizes, const Buffers& buffers, Attention& attention,
               const Exchange& exchange, const Changes& changes)
    : state_(state),
      c_(state.config),
      s_(state.shape),
      z_(sizes),
      buffers_(buffers),
      attention_(attention),
      exchange_(exchange),
      changes_(changes),
      format_{c_.kvType, s_.keyDim, s_.cacheRowBytes, kvScale(c_), c_.kvHeads},
      capturedLayers_(sizes.capturedLayers > 0 ? dcpscope::capturedLayers(c_) : std::vector<int>{}) {}

Ownership Stages::ownership(int rank) const { return {rank, c_.ranks, c_.interleave, c_.pageSize}; }

KernelLse Stages::kernelLse(int rank) const {
  return {lsePlace(c_, s_, z_), c_.lseBf16, buffers_.kernelLse(rank)};
}

const char* Stages::queriesOf(int layer) const {
  return z_.gathered > 0 ? buffers_.gathered() : buffers_.queries(layer);
}

const int32_t* Stages::boundsOf(int rank, int layer) const {
  return c_.topk > 0 ? buffers_.chosenBounds(rank, layer) : buffers_.bounds(rank, branchOf(layer));
}

const int32_t* Stages::pagesOf(int rank, Branch branch) const {
  const Handed* handed = handedTo(branch);
  return handed == nullptr ? buffers_.pages(branch) : handed->pages(rank);
}

const int64_t* Stages::tableBegin(Branch branch) const {
  const Handed* handed = handedTo(branch);
  return handed == nullptr ? buffers_.tableBegin() : handed->tableBegin();
}

const int32_t* Stages::keysOf(int rank, Branch branch) const {
  const Handed* handed = handedTo(branch);
  return handed == nullptr ? buffers_.lengths(rank, branch) : handed->keys(rank);
}

int Stages::capturedAt(int layer) const {
  const auto found = std::find(capturedLayers_.begin(), capturedLayers_.end(), layer);
  return found == capturedLayers_.end() ? -1 : static_cast<int>(found - capturedLayers_.begin());
}

void Stages::enqueue(const std::vector<Work>& order, size_t at, StepMode mode, cudaStream_t stream) const {
  const Work& work = order[at];
  const Stamps stamps = buffers_.stamps(at, mode.traced);
  switch (work.stage) {
    case Stage::metadata:
      if (work.refreshes)
        refresh(work.rank, branchOf(work.layer), stamps, stream);
      else
        localize(work.rank, work.layer, stamps, stream);
      break;
    case Stage::kvAppend:
      append(work.rank, work.layer, stamps, stream);
      break;
    case Stage::decodeAttn:
      attend(work.rank, work.layer, mode, stamps, buffers_.stamps(at + 1, mode.traced), stream);
      break;
    case Stage::neutralize:
      neutralize(work.rank, work.layer, mode, stamps, stream);
      break;
    case Stage::restOfLayer:
      restOfLayer({buffers_.rest(), z_.rest, c_.restOfLayerBytes, c_.restOfLayerFlops,
                   reinterpret_cast<RestState*>(buffers_.restState())},
                  stream, stamps);
      break;
    default:
      exchange_.enqueue(work, stamps, stream);
  }
  if (mode.captured && keepsAfter(work)) keep(work, stream);
}

void Stages::refresh(int rank, Branch branch, const Stamps& stamps, cudaStream_t stream) const {
  makeMetadata(
      {ownership(rank), z_.requests, c_.qLen, buffers_.before(), buffers_.after(), buffers_.pages(branch),
       buffers_.tableBegin(), buffers_.prompts(), buffers_.lengths(rank, branch),
       buffers_.bounds(rank, branch), buffers_.slotMapping(rank, branch)},
      stream, stamps);
  if (const Handed* handed = handedTo(branch)) handed->take(rank, buffers_, stream);
  attention_.plan(buffers_.workspace(rank), keysOf(rank, branch), stream);
}

void Stages::localize(int rank, int layer, const Stamps& stamps, cudaStream_t stream) const {
  const Branch branch = branchOf(layer);
  const LocalizeTask task{ownership(rank),
                          z_.requests,
                          c_.qLen,
                          c_.topk,
                          buffers_.ids(layer),
                          pagesOf(rank, branch),
                          tableBegin(branch),
                          buffers_.slots(rank),
                          buffers_.chosenBounds(rank, layer)};
  const ChoiceRule rule = choiceRule(state_, rank, layer);
  if (rule.asTheyCome || rule.ownsSentinel)
    return localizeBy(rule, handedTo(branch)->columns(rank), task, stream, stamps);
  dcpscope::cuda::localize(task, stream, stamps);
}

void Stages::append(int rank, int layer, const Stamps& stamps, cudaStream_t stream) const {
  const AppendTask task{format_, z_.tokens, buffers_.keys(layer), buffers_.slotMapping(rank, branchOf(layer)),
                        buffers_.pool(rank, layer)};
  // Tokens that overwrite each other do so in their order, as on the CPU, and not as chance has it.
  if (contains(c_.faults, FaultKind::slotMapIgnoresDcp)) return appendInOrder(task, stream, stamps);
  dcpscope::cuda::append(task, stream, stamps);
}

void Stages::attend(int rank, int layer, StepMode mode, const Stamps& stamps, const Stamps& combineStamps,
                    cudaStream_t stream) const {
  const Branch branch = branchOf(layer);
  const Injected* injected = changes_.injected;
  AttentionInputs in{};
  in.q = queriesOf(layer);
  in.pool = injected == nullptr ? buffers_.pool(rank, layer) : injected->pool(rank, layer, stream);
  in.poolPages = s_.poolPages;
  in.kvScale = format_.scale;
  in.pageTable = pagesOf(rank, branch);
  in.tableBegin = tableBegin(branch);
  in.lengths = keysOf(rank, branch);
  in.bounds = boundsOf(rank, layer);
  in.slots = c_.topk > 0 ? buffers_.slots(rank) : nullptr;
  in.headsTogether = headsTogether(state_, rank, layer);
  in.countedRows = countedRows(state_, rank, layer);
  in.softmaxScale = static_cast<float>(c_.softmaxScale);
  in.base2 = c_.base2;
  in.emptyRow = c_.emptyRow;
  in.out = buffers_.out(rank, layer);
  in.lse = buffers_.lse(rank, layer);
  in.stats = mode.traced && c_.rowStats && attentionTakesStats() ? buffers_.stats(rank, layer) : nullptr;
  in.attendStamps = stamps;
  in.combineStamps = combineStamps;
  if (injected != nullptr) injected->age(rank, layer, stream);
  attention_.run(buffers_.workspace(rank), in, stream);
  if (injected != nullptr) injected->spoil(rank, layer, stream);
  if (keepsLseApart(c_)) layOutLse(in.lse, c_.heads, kernelLse(rank), stream, combineStamps);
}

void Stages::neutralize(int rank, int layer, StepMode mode, const Stamps& stamps, cudaStream_t stream) const {
  const StatsOf statsOf = !mode.traced || !c_.rowStats ? StatsOf::none
                          : attentionTakesStats()      ? StatsOf::tokensWithoutKeys
                                                       : StatsOf::allTokens;
  const int32_t* bounds = boundsOf(rank, layer);
  if (changes_.injected != nullptr) bounds = changes_.injected->ruled(rank, layer, bounds, stream);
  const NeutralizeTask task{z_.tokens,
                            c_.heads,
                            s_.valueDim,
                            s_.valueBytes == 4,
                            buffers_.out(rank, layer),
                            buffers_.lse(rank, layer),
                            bounds,
                            statsOf,
                            buffers_.stats(rank, layer)};
  if (keepsLseApart(c_))
    dcpscope::cuda::neutralize(task, kernelLse(rank), lseReading(state_, rank, layer), stream, stamps);
  else
    dcpscope::cuda::neutralize(task, stream, stamps);
}

bool Stages::keepsAfter(const Work& work) const {
  const bool stage = (work.stage == Stage::metadata && !work.refreshes) || work.stage == Stage::kvAppend ||
                     work.stage == Stage::decodeAttn || work.stage == Stage::neutralize;
  return stage && capturedAt(work.layer) >= 0;
}

void Stages::keep(const Work& work, cudaStream_t stream) const {
  char* to = buffers_.capture(work.rank, capturedAt(work.layer));
  const auto copy = [&](int64_t offset, const void* from, int64_t bytes) {
    cudaCheck(
        cudaMemcpyAsync(to + offset, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, stream),
        "keeping tensors of a captured layer");
  };
  if (work.stage == Stage::metadata) return copy(z_.capture.slots, buffers_.slots(work.rank), z_.slots);
  if (work.stage == Stage::kvAppend) return copy(z_.capture.q, queriesOf(work.layer), z_.queries);
  const bool kernel = work.stage == Stage::decodeAttn;
  const int64_t outBytes = static_cast<int64_t>(z_.tokens) * c_.heads * s_.valueDim * s_.valueBytes;
  copy(kernel ? z_.capture.outKernel : z_.capture.out, buffers_.out(work.rank, work.layer), outBytes);
  if (kernel && keepsLseApart(c_))
    return copy(z_.capture.lseKernel, buffers_.kernelLse(work.rank), z_.kernelLse);
  copy(kernel ? z_.capture.lseKernel : z_.capture.lse, buffers_.lse(work.rank, work.layer), z_.lse);
}

void Stages::makeInputs(cudaStream_t stream) const {
  for (int layer = 0; layer < z_.layers; ++layer) {
    const int firstHead = z_.madeHeads < c_.heads ? state_.firstRank() * z_.madeHeads : 0;
    dcpscope::cuda::makeInputs(
        {z_.requests, c_.qLen, firstHead, z_.madeHeads, s_.keyDim, c_.kvHeads, buffers_.sources(layer),
         buffers_.before(), buffers_.queries(layer), buffers_.keys(layer)},
        stream);
    if (c_.topk > 0) chooseKeys(layer, stream);
  }
}

/** Rows that pad the batch choose nothing. */
void Stages::chooseKeys(int layer, cudaStream_t stream) const {
  const int requests = c_.padRequests > 0 ? batchRequests(c_) : z_.requests;
  dcpscope::cuda::chooseKeys({c_.seed, layer, requests, c_.qLen, c_.topk, buffers_.sources(layer),
                              buffers_.before(), buffers_.after(), buffers_.ids(layer)},
                             stream);
  const int64_t perRequest = static_cast<int64_t>(c_.qLen) * c_.topk;
  const int64_t rest = (z_.requests - requests) * perRequest * 4;
  if (rest > 0)
    cudaCheck(
        cudaMemsetAsync(buffers_.ids(layer) + requests * perRequest, 0xff, static_cast<size_t>(rest), stream),
        "the choice of keys");
}

void Stages::fill(int layer, int request, int64_t first, int64_t last, cudaStream_t stream) const {
  const Branch branch = branchOf(layer);
  const Handed* handed = handedTo(branch);
  const int32_t* pages = buffers_.pages(branch) + s_.cellBegin[static_cast<size_t>(request)];
  for (int r = state_.firstRank(); r < state_.endRank(); ++r) {
    Ownership written = ownership(r);
    if (handed != nullptr) written.interleave = static_cast<int>(handed->of(r).writtenInterleave());
    dcpscope::cuda::fill(
        {written, format_, sourceOf(c_, layer, request), first, last, pages, buffers_.pool(r, layer)},
        stream);
  }
}

}  // namespace dcpscope::cuda
