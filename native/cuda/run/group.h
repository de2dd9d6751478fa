#pragma once
#include <cuda_runtime_api.h>

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
#include "cuda/run/fault.h"
#include "cuda/run/graphs.h"
#include "cuda/run/kernel_recorder.h"
#include "cuda/run/sizes.h"
#include "cuda/run/stages.h"
#include "cuda/run/timeline.h"

namespace dcpscope::cuda {

/** The first GPU. */
class Gpu final : public Device {
 public:
  int threads(const Config& config) const override;
  std::vector<MemoryComponent> memory(const Config& config) const override;
  void requireRoom(const std::vector<MemoryComponent>& components) const override;
  std::unique_ptr<Group> createGroup(RunState& state, Pool& pool) const override;
};

/** Makes the first GPU the one of this thread; throws ERR_ENGINE with one line when it cannot be had. */
void useGpu();

/** Stream and events, and no more. */
struct Queue {
  Queue();
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  cudaStream_t stream = nullptr;
  /** Borders of a step. */
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  /** After a layer, in turn: bounds how far the host runs ahead. */
  cudaEvent_t layers[2] = {};
};

/** Ranks that share one GPU in turn. */
class CudaGroup final : public Group {
 public:
  explicit CudaGroup(RunState& state);
  ~CudaGroup() override;

  FillSizes fillSizes() const override;
  void fill(std::span<const FillPiece> pieces) override;
  StepTimes step() override;
  const unsigned char* merged(int layer, int rank, int token) override;
  MergedNan findNan() override;
  RankMetadata metadata(int rank) override;
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

  void writeFrame();
  StepTimes runStep();
  int64_t execute(StepMode mode);
  void enqueue(StepMode mode, bool recording);
  void boundLead(size_t at);
  void record(StepTimes& times);
  void recordSpans(const Lanes& lanes, const StepTimes& times);
  void recordRows();
  void collectCaptures();
  std::vector<OpKinds> opsOfWork(StepMode mode);
  void recordKernels(const Lanes& lanes, const std::vector<Hull>& hulls, StepTimes& times);
  void pushKernels(const PlacedOps& placed, const StepTimes& times);
  int32_t kernelName(const std::string& mangled);
  SeenKeys seenBy(const Work& work) const;

  RunState& state_;
  const Config& c_;
  const Shape& s_;
  const Sizes z_;
  const std::vector<Work> order_;
  const std::unique_ptr<Attention> attention_;
  const Buffers buffers_;
  const Stages stages_;
  const TestFault fault_;
  Queue queue_;
  Graphs graphs_;
  DeviceClock clock_;
  PinnedMemory mergedRow_;
  MergedKey mergedKey_;
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
