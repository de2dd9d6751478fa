#pragma once
#include <optional>

#include "core/branch.h"
#include "core/generate.h"
#include "core/run_state.h"
#include "cuda/ops/neutralize.h"
#include "cuda/run/memory.h"
#include "cuda/run/sizes.h"
#include "cuda/stamp.h"

namespace dcpscope::cuda {

/** Everything that a run keeps on the GPU. Addresses never change, so that graphs may hold them. */
class Buffers {
 public:
  Buffers(const RunState& state, const Sizes& sizes, int64_t workspace);

  /** Ranks go by their number in the group. */
  char* pool(int rank, int layer) const { return pools_.at(index(rank, layer) * z_.pool); }
  /** Those that are made here, [T][made heads][D]. */
  char* queries(int layer) const {
    return sharesQueries_ ? shared_.at(z_.shared.queries + layer * z_.made) : queries_.at(layer * z_.made);
  }
  char* keys(int layer) const { return keys_.at(layer * z_.keys); }
  int32_t* ids(int layer) const { return ids_.at<int32_t>(layer * z_.ids); }
  char* gathered() const { return gathered_.at(); }
  char* slices() const { return slices_.at(); }
  /** Where attention writes: the merged rows themselves when there is nothing to merge. */
  char* out(int rank, int layer) const {
    if (z_.out == 0) return merged(layer, rank);
    return isShared() ? shared_.at(sharedOut(layer)) : outs_.at(local(rank) * z_.out);
  }
  float* lse(int rank, int layer) const {
    return isShared() ? shared_.at<float>(sharedLse(layer)) : lse_.at<float>(local(rank) * z_.lse);
  }
  /** Where the kernel keeps its lse, if apart. */
  char* kernelLse(int rank) const { return kernelLse_.at(local(rank) * z_.kernelLse); }
  char* wire(int rank) const { return wires_.at(local(rank) * z_.wire); }
  char* received(int rank) const { return received_.at(local(rank) * z_.received); }
  float* lses() const { return lses_.at<float>(); }
  char* merged(int layer, int rank) const {
    return merged_.at((static_cast<int64_t>(layer) * ranks_ + local(rank)) * z_.merged);
  }
  int32_t* slots(int rank) const { return slots_.at<int32_t>(local(rank) * z_.slots); }
  int64_t* slotMapping(int rank, Branch branch) const {
    return slotMapping_.at<int64_t>(index(rank, branch) * z_.slotMapping);
  }
  /** Of all branches, which a rank works on one after the other. */
  void* workspace(int rank) const { return workspaces_.at(local(rank) * workspace_); }

  /** What peers read and write, and where in it the partials of a layer lie. */
  bool isShared() const { return z_.shared.bytes > 0; }
  const DeviceMemory& shared() const { return shared_; }
  int64_t sharedOut(int layer) const { return z_.shared.out + turn(layer) * z_.out; }
  int64_t sharedLse(int layer) const { return z_.shared.lse + turn(layer) * z_.lse; }
  char* rest() const { return rest_.at(); }
  char* restState() const { return restState_.at(); }
  NanCount* nanCounts() const { return nanCounts_.at<NanCount>(); }
  const Source* sources(int layer) const {
    return sources_.at<Source>() + static_cast<int64_t>(layer) * z_.requests;
  }

  const int64_t* before() const { return frame_.at<int64_t>(z_.frame.before); }
  const int64_t* after() const { return frame_.at<int64_t>(z_.frame.after); }
  const int32_t* pages(Branch branch) const { return frame_.at<int32_t>(pagesOffset(branch)); }
  int64_t pagesOffset(Branch branch) const { return z_.frame.pages + number(branch) * z_.branchPages; }
  const int64_t* tableBegin() const { return tableBegin_.at<int64_t>(); }
  /** Null where tokens behind the prompts are dealt out as these are. */
  const int64_t* prompts() const { return prompts_.at<int64_t>(); }
  /** The host's side of a frame, and its way to the device. */
  const PinnedMemory& frameOnHost() const { return frameOnHost_; }
  void uploadFrame(cudaStream_t stream) const;

  /** Those of a piece of work, which announces itself also where it is not traced. */
  Stamps stamps(size_t work, bool traced) const {
    return {traced ? trace_.at<Stamp>(z_.trace.stamps) + work * kStamps : nullptr,
            announced_.onDevice<uint32_t>(), static_cast<uint32_t>(work) + 1};
  }
  /** Empties the stamps of the first `works`. */
  void clearStamps(size_t works, cudaStream_t stream) const;
  /** The work that began last since nothing was announced; none where none did. Also after a fault. */
  std::optional<size_t> announced() const;
  void forgetAnnounced() const { *announced_.at<volatile uint32_t>() = 0; }
  StatsRecord* stats(int rank, int layer) const { return trace_.at<StatsRecord>(statsOffset(rank, layer)); }
  int64_t statsOffset(int rank, int layer) const {
    return z_.trace.stats + index(rank, layer) * z_.tokens * static_cast<int64_t>(sizeof(StatsRecord));
  }
  /** Kernels of a step add to what is there. */
  void clearStats(cudaStream_t stream) const;
  int32_t* lengths(int rank, Branch branch) const { return trace_.at<int32_t>(lengthsOffset(rank, branch)); }
  int64_t lengthsOffset(int rank, Branch branch) const {
    return z_.trace.lengths + index(rank, branch) * z_.requests * 4;
  }
  /** Of all keys in a branch, and of those that a layer chose. */
  int32_t* bounds(int rank, Branch branch) const { return trace_.at<int32_t>(boundsOffset(rank, branch)); }
  int64_t boundsOffset(int rank, Branch branch) const {
    return z_.trace.bounds + index(rank, branch) * z_.bounds;
  }
  int32_t* chosenBounds(int rank, int layer) const {
    return trace_.at<int32_t>(chosenBoundsOffset(rank, layer));
  }
  int64_t chosenBoundsOffset(int rank, int layer) const {
    return z_.trace.bounds + (static_cast<int64_t>(ranks_) * z_.branches + index(rank, layer)) * z_.bounds;
  }
  const DeviceMemory& trace() const { return trace_; }
  const PinnedMemory& traceOnHost() const { return traceOnHost_; }

  /** Copies of captured tensors; `at` counts the captured layers. */
  char* capture(int rank, int at) const {
    return captures_.at((static_cast<int64_t>(at) * ranks_ + local(rank)) * z_.capture.bytes);
  }

 private:
  /** Among the ranks of this process. */
  int64_t local(int rank) const { return rank - first_; }
  int64_t index(int rank, int layer) const { return local(rank) * layers_ + layer; }
  int64_t index(int rank, Branch branch) const { return local(rank) * z_.branches + number(branch); }
  static int64_t number(Branch branch) { return branch == Branch::draftExtend ? 1 : 0; }
  /** Which of the two partials that peers read: not that of the layer which comes before it in a step. */
  int turn(int layer) const { return layer == draftLayer_ ? 1 : layer & 1; }
  void uploadSources(const RunState& state);
  void uploadTableBegin(const Shape& shape);
  void uploadPrompts(const Config& config);

  const Sizes& z_;
  const int first_;
  const int ranks_;
  const int layers_;
  /** -1 where there is no draft. */
  const int draftLayer_;
  const int64_t workspace_;
  const bool sharesQueries_;
  DeviceMemory pools_;
  DeviceMemory queries_;
  DeviceMemory keys_;
  DeviceMemory ids_;
  DeviceMemory sources_;
  DeviceMemory gathered_;
  DeviceMemory slices_;
  DeviceMemory shared_;
  DeviceMemory outs_;
  DeviceMemory lse_;
  DeviceMemory kernelLse_;
  DeviceMemory wires_;
  DeviceMemory received_;
  DeviceMemory lses_;
  DeviceMemory merged_;
  DeviceMemory slots_;
  DeviceMemory slotMapping_;
  DeviceMemory workspaces_;
  DeviceMemory rest_;
  DeviceMemory restState_;
  DeviceMemory nanCounts_;
  DeviceMemory frame_;
  DeviceMemory tableBegin_;
  DeviceMemory prompts_;
  DeviceMemory trace_;
  DeviceMemory captures_;
  PinnedMemory frameOnHost_;
  PinnedMemory traceOnHost_;
  /** Where kernels announce themselves: the address of the stamps of the last one. */
  PinnedMemory announced_;
};

}  // namespace dcpscope::cuda
