#pragma once
#include <cuda_runtime_api.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/group.h"
#include "cuda/attention.h"
#include "cuda/run/buffers.h"
#include "cuda/run/clock.h"
#include "cuda/run/costs.h"
#include "cuda/run/exchange.h"
#include "cuda/run/fault.h"
#include "cuda/run/graphs.h"
#include "cuda/run/handed.h"
#include "cuda/run/injected.h"
#include "cuda/run/kernel_recorder.h"
#include "cuda/run/meeting.h"
#include "cuda/run/queue.h"
#include "cuda/run/sizes.h"
#include "cuda/run/stages.h"
#include "cuda/run/timeline.h"

namespace dcpscope::cuda {

/** One GPU, as CUDA counts them. */
class Gpu final : public Device {
 public:
  explicit Gpu(int index) : index_(index) {}

  int threads(const Config& config) const override;
  std::vector<MemoryComponent> memory(const Config& config) const override;
  void requireRoom(const std::vector<MemoryComponent>& components) const override;
  std::unique_ptr<Group> createGroup(RunState& state, Pool& pool) const override;

 private:
  const int index_;
};

/** Makes a GPU the one of this thread; throws ERR_ENGINE with one line when it cannot be had. */
void useGpu(int index);

/** Ranks on one GPU: all of them in turn, or the one that this process is. */
class CudaGroup final : public Group {
 public:
  CudaGroup(RunState& state, int gpu);
  ~CudaGroup() override;

  FillSizes fillSizes() const override;
  void fill(std::span<const FillPiece> pieces) override;
  StepTimes step() override;
  const unsigned char* merged(int layer, int rank, int token) override;
  MergedNan findNan() override;
  bool conclude(std::span<RankNotes> notes) override;
  std::vector<Place> places() const override;
  int port() const override { return meets() ? meeting_->control().port() : 0; }
  RankMetadata metadata(int rank) override { return metadataOf(rank, modelBranch(c_)); }
  RankMetadata draftMetadata(int rank) override { return metadataOf(rank, Branch::draftExtend); }
  void copyPages(int rank, int layer, std::span<const int32_t> ids, unsigned char* to) override;
  GroupFacts facts() override;

 private:
  struct MergedKey {
    int layer = -1;
    int rank = -1;
    int token = -1;
    bool operator==(const MergedKey&) const = default;
  };

  /** Calls f on the GPU; a fault becomes ERR_DEVICE that names stage and rank. */
  void onGpu(const std::function<void()>& f);
  std::string faultPlace() const;
  Place placeOf(const Work& work) const;

  bool meets() const { return meeting_ != nullptr; }
  RankRange ranks() const { return {state_.firstRank(), state_.endRank()}; }
  /** Finds the other ranks, before the first step. As `together`. */
  bool connect();
  /** Returns when all ranks have come. */
  bool meet();
  /** The same; `wish` is then whether any of them has it: what all do together must not depend on one. */
  bool meetForAny(bool& wish);
  /** After what all ranks do or none: throws when one is lost, false when the run was cancelled. */
  bool together(bool met);
  /** Whether to stop, as far as one process can tell: ranks that meet end a step together. */
  bool stops() const { return meets() ? broken_ : state_.cancelled(); }
  /** What the device does while this rank waits: something before a step, or a step, whose kernels say where
   * it is, and of which a trace keeps what came to its end. */
  enum class Doing { other, step, tracedStep };
  static Doing doing(StepMode mode) { return mode.traced ? Doing::tracedStep : Doing::step; }
  /** Waits for the device. */
  void await(cudaEvent_t event, const char* what, Doing doing = Doing::other);
  void awaitStream(const char* what, Doing doing = Doing::other);
  /** Waits until `done`; when that does not come, it parts from the others, and throws when one is lost. */
  void watch(const std::function<bool()>& done, Doing doing);
  bool waitFor(const std::function<bool()>& done, Doing doing);
  void showPlace();
  void stoodStill(int hindmost);
  /** Throws when it has tried to find the other ranks for too long. */
  void requireConnectedSoon(std::chrono::steady_clock::time_point begun);
  /** From now on nothing waits for other ranks. */
  void part();
  /** The same, and keeps what a traced step did until then, where the device comes to its end. */
  void breakOff(Doing doing);
  /** Whether the device comes to the end of its work once nothing waits for other ranks. */
  bool endsSoon();

  void copyMerged(int layer, int rank, int token, unsigned char* to);
  void writeFrame();
  StepTimes runStep();
  int64_t execute(StepMode mode);
  void enqueue(StepMode mode);
  /** The graph of a branch in the step at hand. */
  GraphKey graphOf(const BranchWork& branch, StepMode mode) const;
  void boundLead(size_t at, Doing doing);
  void record(StepTimes& times);
  Lanes lanesOf(const std::vector<Hull>& hulls) const;
  /** Of ranks with processes of their own: what the others say of the step. As `together`. */
  bool joinOthers(Lanes& lanes, StepTimes& times);
  void recordEnded(size_t at);
  void recordSpans(const Lanes& lanes, int64_t began, bool replayed);
  SpanRow replayOf(const BranchWork& branch, const std::vector<LaneSpan>& spans, int64_t began) const;
  void recordRows();
  void recordRow(int rank, int layer, int token, const TokenStats& all, const SeenKeys& seen);
  void collectCaptures();
  void fetchLse(const void* from, Tensor& to) const;
  std::vector<OpKinds> opsOfWork(StepMode mode);
  void recordKernels(const Lanes& lanes, const std::vector<Hull>& hulls, int64_t began, KernelTrace& kernels);
  void pushKernels(const PlacedOps& placed, int64_t began);
  int32_t kernelName(const std::string& mangled);
  SeenKeys seenBy(int rank, int layer) const;
  RankMetadata metadataOf(int rank, Branch branch);

  RunState& state_;
  const Config& c_;
  const Shape& s_;
  const int gpu_;
  const Sizes z_;
  const std::vector<Work> order_;
  const std::vector<BranchWork> branches_;
  /** Where ranks have processes of their own, and more than one. */
  const std::unique_ptr<Meeting> meeting_;
  /** Of a rank without others. */
  Beacon alone_;
  const std::unique_ptr<Attention> attention_;
  const Buffers buffers_;
  const std::unique_ptr<Exchange> exchange_;
  /** Null where metadata are those that kernels make, there is no draft, or there are no faults. */
  const std::unique_ptr<Handed> handed_;
  const std::unique_ptr<Handed> handedToDraft_;
  const std::unique_ptr<Injected> injected_;
  const Stages stages_;
  const TestFault fault_;
  const std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
  /** Shared with whoever frees them when the device does not come back. */
  std::shared_ptr<Graphs> graphs_ = std::make_shared<Graphs>();
  bool connected_ = false;
  /** Nothing is exchanged any more. */
  bool broken_ = false;
  DeviceClock clock_;
  PinnedMemory mergedRow_;
  MergedKey mergedKey_;
  /** Of the one rank that this process is. */
  const Meeting::CopyRow copyRow_ = [this](int layer, int token, unsigned char* to) {
    copyMerged(layer, state_.firstRank(), token, to);
  };
  /** Steps take so long that the host must not run ahead by a whole one. */
  bool slow_ = true;
  int64_t lastEnd_ = 0;
  /** Where kernels of some steps are recorded. */
  std::unique_ptr<KernelRecorder> recorder_;
  /** What the last recorded step ran, and why no more is known of it. */
  std::vector<DeviceOp> recordedOps_;
  std::string kernelProblem_;
  /** Places in the list of names. */
  std::map<std::string, int32_t> kernelNames_;
};

}  // namespace dcpscope::cuda
