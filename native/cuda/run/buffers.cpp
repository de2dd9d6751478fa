#include "cuda/run/buffers.h"

#include <vector>

#include "core/source.h"
#include "cuda/check.h"
#include "cuda/ops/rest_of_layer.h"
#include "cuda/run/timeline.h"

namespace dcpscope::cuda {
Buffers::Buffers(const RunState& state, const Sizes& sizes, int64_t workspace)
    : z_(sizes),
      first_(state.firstRank()),
      ranks_(z_.ranks),
      layers_(z_.layers),
      draftLayer_(state.config.draft ? state.config.layers : -1),
      workspace_((workspace + 255) / 256 * 256),
      sharesQueries_(isShared() && gathersQueries(state.config)),
      pools_(static_cast<int64_t>(ranks_) * layers_ * z_.pool, "kv_pages"),
      queries_(sharesQueries_ ? 0 : layers_ * z_.made, "inputs"),
      keys_(layers_ * z_.keys, "inputs"),
      ids_(layers_ * z_.ids, "inputs"),
      sources_(static_cast<int64_t>(layers_) * z_.requests * static_cast<int64_t>(sizeof(Source)), "inputs"),
      gathered_(z_.gathered, "queries"),
      slices_(z_.slices, "queries"),
      shared_(z_.shared.bytes, "partials"),
      outs_(isShared() ? 0 : ranks_ * z_.out, "partials"),
      lse_(isShared() ? 0 : ranks_ * z_.lse, "partials"),
      kernelLse_(ranks_ * z_.kernelLse, "partials"),
      wires_(ranks_ * z_.wire, "partials"),
      received_(ranks_ * z_.received, "partials"),
      lses_(z_.lses, "partials"),
      merged_(static_cast<int64_t>(layers_) * ranks_ * z_.merged, "merged"),
      slots_(ranks_ * z_.slots, "page_tables"),
      slotMapping_(ranks_ * z_.branches * z_.slotMapping, "page_tables"),
      workspaces_(ranks_ * workspace_, "workspace"),
      rest_(z_.rest, "rest_of_layer"),
      restState_(static_cast<int64_t>(sizeof(RestState)), "rest_of_layer"),
      nanCounts_(static_cast<int64_t>(state.config.layers) * ranks_ * z_.tokens *
                     static_cast<int64_t>(sizeof(NanCount)),
                 "workspace"),
      frame_(z_.frame.bytes, "page_tables"),
      tableBegin_(z_.tableBegin, "page_tables"),
      prompts_(z_.prompts, "page_tables"),
      trace_(z_.trace.bytes, "trace"),
      captures_(static_cast<int64_t>(z_.capturedLayers) * ranks_ * z_.capture.bytes, "capture"),
      frameOnHost_(z_.frame.bytes, "pinned"),
      traceOnHost_(z_.trace.bytes, "pinned"),
      announced_(sizeof(uint32_t), "pinned") {
  uploadSources(state);
  uploadTableBegin(state.shape);
  if (state.config.restarts) uploadPrompts(state.config);
}

void Buffers::uploadSources(const RunState& state) {
  std::vector<Source> all;
  for (int layer = 0; layer < layers_; ++layer)
    for (int r = 0; r < z_.requests; ++r)
      all.push_back(r < state.shape.requests ? sourceOf(state.config, layer, r)
                                             : makeSource(state.config.seed, layer, r, false, 0,
                                                          state.shape.keyDim, state.config.softmaxScale));
  cudaCheck(cudaMemcpy(sources_.at(), all.data(), all.size() * sizeof(Source), cudaMemcpyHostToDevice),
            "sending what data is made of");
}

/** Requests that only pad the batch have no pages: their rows begin where the last one ends. */
void Buffers::uploadTableBegin(const Shape& shape) {
  std::vector<int64_t> begin(shape.cellBegin.begin(), shape.cellBegin.end());
  begin.resize(static_cast<size_t>(z_.requests) + 1, shape.cells());
  cudaCheck(cudaMemcpy(tableBegin_.at(), begin.data(), begin.size() * 8, cudaMemcpyHostToDevice),
            "sending the page table");
}

/** Requests that only pad the batch have none. */
void Buffers::uploadPrompts(const Config& c) {
  std::vector<int64_t> prompts = c.contextLens;
  prompts.resize(static_cast<size_t>(z_.requests), 0);
  cudaCheck(cudaMemcpy(prompts_.at(), prompts.data(), prompts.size() * 8, cudaMemcpyHostToDevice),
            "sending the lengths of the prompts");
}

void Buffers::clearStamps(size_t works, cudaStream_t stream) const {
  cudaCheck(cudaMemsetAsync(trace_.at(z_.trace.stamps), 0, works * kStamps * sizeof(Stamp), stream),
            "clearing the stamps");
}

std::optional<size_t> Buffers::announced() const {
  const uint32_t name = *announced_.at<volatile uint32_t>();
  return name == 0 ? std::nullopt : std::optional<size_t>(name - 1);
}

void Buffers::clearStats(cudaStream_t stream) const {
  if (z_.stats == 0) return;
  cudaCheck(cudaMemsetAsync(trace_.at(z_.trace.stats), 0, static_cast<size_t>(z_.stats), stream),
            "clearing the row statistics");
}

void Buffers::uploadFrame(cudaStream_t stream) const {
  cudaCheck(cudaMemcpyAsync(frame_.at(), frameOnHost_.at(), static_cast<size_t>(z_.frame.bytes),
                            cudaMemcpyHostToDevice, stream),
            "sending the lengths of a step");
}

}  // namespace dcpscope::cuda
