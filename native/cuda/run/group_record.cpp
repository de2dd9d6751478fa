#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "cuda/check.h"
#include "cuda/run/costs.h"
#include "cuda/run/group.h"

namespace dcpscope::cuda {

/** Turns the stamps of the last traced execution into lanes, and keeps them when the step is one of the
 * trace. */
void CudaGroup::record(StepTimes& times) {
  const auto* stamps = buffers_.traceOnHost().at<Stamp>(z_.trace.stamps);
  std::vector<Hull> hulls;
  for (size_t i = 0; i < order_.size(); ++i) hulls.push_back(hullOf(stamps + i * kStamps));
  Lanes lanes = lanesOf(hulls);
  times.start = std::max(clock_.onHost(hulls.front().begin), lastEnd_);
  times.wall = lanes.wall;
  times.once = firstLayerAt(order_, lanes);
  const int64_t began = times.start;
  if (!joinOthers(lanes, times)) return;
  lastEnd_ = times.start + times.wall;
  if (!state_.frame.traced) return;
  recordSpans(lanes, began, times.replayed);
  if (c_.rowStats) recordRows();
  if (times.kernels.on) recordKernels(lanes, hulls, began, times.kernels);
  if (state_.frame.captured) collectCaptures();
}

Lanes CudaGroup::lanesOf(const std::vector<Hull>& hulls) const {
  if (state_.member) return ownLane(order_, hulls);
  std::vector<bool> interrupted(order_.size(), false);
  for (size_t i = 0; i < order_.size(); ++i) {
    if (!state_.frame.captured || !stages_.keepsAfter(order_[i])) continue;
    interrupted[i] = true;
    // Copies follow the combine, which is part of the attention kernel.
    if (order_[i].stage == Stage::decodeAttn) interrupted[i + 1] = true;
  }
  return makeLanes(order_, hulls, interrupted, c_.ranks);
}

bool CudaGroup::joinOthers(Lanes& lanes, StepTimes& times) {
  if (!meets()) return true;
  Meeting::Step own{times.start, times.start + times.once, times.start + times.wall, {}};
  for (const LaneSpan& span : lanes.spans[0])
    if (span.collective >= 0) own.enters.push_back(times.start + span.enter);
  state_.at({Activity::ending, {}, -1, state_.frame.step});
  const std::optional<Meeting::Step> all = meeting_->together(own);
  // The step is the last one, and this rank has done it.
  if (!all && state_.frame.traced) recordSpans(lanes, times.start, times.replayed);
  if (!together(all.has_value())) return false;
  for (LaneSpan& span : lanes.spans[0])
    // Clocks of GPUs are known within some microseconds only, and nothing ends before it has begun.
    if (span.collective >= 0)
      span.lastEnter = std::min(all->enters[static_cast<size_t>(span.collective)] - times.start,
                                span.start + span.duration);
  times.start = all->began;
  times.once = all->layers - all->began;
  times.wall = all->ended - all->began;
  return true;
}

/**
 * Of a step that was broken off when work `at` ran: spans of what came to its end. A kernel that waits for
 * peers stamps no end when it gives up; NCCL's end like any other when they are made to let go.
 */
void CudaGroup::recordEnded(size_t at) {
  if (!state_.frame.traced) return;
  const size_t count = meansOf(c_) == Means::nccl ? nextMeeting(order_, at) : order_.size();
  const cudaError_t fetched = cudaMemcpy(buffers_.traceOnHost().at(), buffers_.trace().at(),
                                         static_cast<size_t>(z_.trace.bytes), cudaMemcpyDeviceToHost);
  if (fetched != cudaSuccess) return forgetError();
  const auto* stamps = buffers_.traceOnHost().at<Stamp>(z_.trace.stamps);
  std::vector<Hull> hulls;
  for (size_t i = 0; i < count && !gaveUp(stamps + i * kStamps); ++i)
    hulls.push_back(hullOf(stamps + i * kStamps));
  const std::vector<Work> ended(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(hulls.size()));
  if (!hulls.empty() && hulls.front().begin > 0)
    recordSpans(ownLane(ended, hulls), std::max(clock_.onHost(hulls.front().begin), lastEnd_), false);
}

void CudaGroup::recordSpans(const Lanes& lanes, int64_t began, bool replayed) {
  const bool neutralizeReads = c_.rowStats && !stages_.attentionTakesStats();
  const int32_t perStep = collectivesOf(order_, ranks().first);
  for (int r = ranks().first; r < ranks().end; ++r) {
    const std::vector<LaneSpan>& own = lanes.spans[static_cast<size_t>(r - ranks().first)];
    Ring& ring = state_.trace(r).spans;
    if (replayed)
      for (const BranchWork& branch : branches_) ring.push(replayOf(branch, own, began));
    for (const LaneSpan& span : own) {
      const Work& work = order_[static_cast<size_t>(span.work)];
      const Cost cost = costOf(state_, work, seenBy(work.rank, work.layer), neutralizeReads);
      SpanRow row{state_.frame.step, span.layer, span.stage, began + span.start,
                  span.duration,     cost.bytes, cost.flops};
      if (span.collective >= 0) {
        row.collective = state_.frame.step * perStep + span.collective;
        row.enter = began + span.enter;
        row.lastEnter = began + span.lastEnter;
      }
      ring.push(row);
    }
  }
}

/** The replay of the graph of a branch, around the spans of a rank in it. */
SpanRow CudaGroup::replayOf(const BranchWork& branch, const std::vector<LaneSpan>& spans,
                            int64_t began) const {
  int64_t start = std::numeric_limits<int64_t>::max();
  int64_t end = 0;
  for (const LaneSpan& span : spans) {
    const auto work = static_cast<size_t>(span.work);
    if (work < branch.begin || work >= branch.end) continue;
    start = std::min(start, span.start);
    end = std::max(end, span.start + span.duration);
  }
  const int layer = branch.branch == Branch::draftExtend ? c_.layers : -1;
  return {state_.frame.step, layer, Stage::graphReplay, began + start, end - start, 0, 0};
}

SeenKeys CudaGroup::seenBy(int rank, int layer) const {
  const PinnedMemory& trace = buffers_.traceOnHost();
  const Branch branch = branchOf(c_, layer);
  return {trace.at<int32_t>(buffers_.lengthsOffset(rank, branch)),
          trace.at<int32_t>(c_.topk > 0 && layer >= 0 ? buffers_.chosenBoundsOffset(rank, layer)
                                                      : buffers_.boundsOffset(rank, branch))};
}

void CudaGroup::recordRows() {
  for (int r = ranks().first; r < ranks().end; ++r)
    eachLayer(c_, [&](int layer) {
      const SeenKeys seen = seenBy(r, layer);
      const auto* stats = buffers_.traceOnHost().at<StatsRecord>(buffers_.statsOffset(r, layer));
      for (int t = 0; t < s_.batchTokens; ++t) recordRow(r, layer, t, decode(stats[t]), seen);
    });
}

void CudaGroup::recordRow(int rank, int layer, int token, const TokenStats& all, const SeenKeys& seen) {
  RankTrace& trace = state_.trace(rank);
  const int request = token / c_.qLen;
  trace.nan.note(all.outNan, layer, request, token);
  trace.inf.note(all.outInf, layer, request, token);
  trace.lseNan.note(all.lseNan, layer, request, token);
  trace.rows.push(QueryRowRow{state_.frame.step, layer, request, token % c_.qLen,
                              static_cast<int32_t>(state_.frame.after[request]), seen.lengths[request],
                              seen.bounds[token], all.outNan, all.outInf, all.outAbsmax, all.lseNan,
                              all.lseMin, all.lseMax});
}

/** Tensors of captured layers to where the run keeps them; rows that only pad the batch lie behind the
 * others. */
void CudaGroup::collectCaptures() {
  for (int r = ranks().first; r < ranks().end; ++r)
    for (Capture& capture : state_.trace(r).captures) {
      const char* kept = buffers_.capture(r, stages_.capturedAt(capture.layer));
      for (Tensor& tensor : capture.tensors) {
        const std::string name = tensor.name;
        const void* from = name == "q"            ? kept + z_.capture.q
                           : name == "out_kernel" ? kept + z_.capture.outKernel
                           : name == "lse_kernel" ? kept + z_.capture.lseKernel
                           : name == "out"        ? kept + z_.capture.out
                           : name == "lse"        ? kept + z_.capture.lse
                           : name == "topk_slots" ? kept + z_.capture.slots
                           : name == "topk"       ? reinterpret_cast<const char*>(buffers_.ids(capture.layer))
                           : name == "merged"     ? buffers_.merged(capture.layer, r)
                                                  : nullptr;
        if (from == nullptr) continue;
        if (name == "lse_kernel" && keepsLseApart(c_))
          fetchLse(from, tensor);
        else
          cudaCheck(cudaMemcpy(tensor.data.data(), from, tensor.data.size(), cudaMemcpyDeviceToHost),
                    "fetching captured tensors");
      }
    }
}

/** An lse as the kernel keeps it, to fp32 [T][H] as dumps have it. */
void CudaGroup::fetchLse(const void* from, Tensor& to) const {
  std::vector<char> kept(static_cast<size_t>(z_.kernelLse));
  cudaCheck(cudaMemcpy(kept.data(), from, kept.size(), cudaMemcpyDeviceToHost), "fetching captured tensors");
  const KernelLse lse{lsePlace(c_, s_, z_), c_.lseBf16, kept.data()};
  auto* values = reinterpret_cast<float*>(to.data.data());
  for (int64_t row = 0; row < int64_t{s_.tokens} * c_.heads; ++row)
    values[row] = lse.get(lse.place.at(row / c_.heads, row % c_.heads));
}

RankMetadata CudaGroup::metadataOf(int rank, Branch branch) {
  const bool draft = branch == Branch::draftExtend;
  const Handed* handedTo = draft ? handedToDraft_.get() : handed_.get();
  const Metadata* handed = handedTo == nullptr ? nullptr : &handedTo->of(rank);
  const PageTable& table = draft ? *state_.draftPages : state_.pages;
  const int64_t cells = handed == nullptr ? s_.cells() : Metadata::cells(c_, s_);
  RankMetadata data;
  data.lengths.resize(static_cast<size_t>(s_.requests));
  data.slots.resize(static_cast<size_t>(s_.tokens));
  data.pageIds.resize(static_cast<size_t>(cells));
  for (int r = 0; r < s_.requests; ++r) {
    const int64_t global = handed == nullptr ? state_.frame.after[r] : handed->globalLength(r);
    data.globals.push_back(static_cast<int32_t>(global));
    data.columns.push_back(handed == nullptr ? table.columns(r) : handed->columns(r));
    data.pageBegin.push_back(handed == nullptr ? s_.cellBegin[static_cast<size_t>(r)] : handed->begin(r));
  }
  onGpu([&] {
    const auto fetch = [](void* to, const void* from, size_t bytes) {
      cudaCheck(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "fetching the metadata of a step");
    };
    fetch(data.lengths.data(), buffers_.lengths(rank, branch), data.lengths.size() * 4);
    fetch(data.slots.data(), buffers_.slotMapping(rank, branch), data.slots.size() * 8);
    fetch(data.pageIds.data(), handed == nullptr ? buffers_.pages(branch) : handedTo->pages(rank),
          data.pageIds.size() * 4);
  });
  return data;
}

void CudaGroup::copyPages(int rank, int layer, std::span<const int32_t> ids, unsigned char* to) {
  const int64_t page = static_cast<int64_t>(c_.pageSize) * s_.cacheRowBytes;
  onGpu([&] {
    for (const int32_t id : ids) {
      cudaCheck(cudaMemcpy(to, buffers_.pool(rank, layer) + id * page, static_cast<size_t>(page),
                           cudaMemcpyDeviceToHost),
                "fetching captured pages");
      to += page;
    }
  });
}

}  // namespace dcpscope::cuda
