#include "cuda/run/group.h"

#include <algorithm>
#include <string>

#include "core/error.h"
#include "core/layout.h"
#include "cuda/check.h"

namespace dcpscope::cuda {
namespace {

constexpr int64_t kFillTokens = int64_t{1} << 16;
constexpr int64_t kFillPieces = 16;
/** Device time of a step above which it can be cancelled between layers. */
constexpr int64_t kSlowStepNs = 300'000'000;

std::unique_ptr<Meeting> meetingOf(RunState& state, const std::vector<Work>& order) {
  if (!state.member || state.config.ranks == 1) return nullptr;
  const Shape& s = state.shape;
  return std::make_unique<Meeting>(state, collectivesOf(order, state.firstRank()),
                                   static_cast<int64_t>(s.headsPerRank) * s.valueDim * s.valueBytes);
}

}  // namespace

CudaGroup::CudaGroup(RunState& state, int gpu)
    : state_(state),
      c_(state.config),
      s_(state.shape),
      gpu_(gpu),
      z_(c_, s_),
      order_(workOrder(c_, ranks())),
      branches_(workOfBranches(c_, order_)),
      meeting_(meetingOf(state, order_)),
      attention_(Attention::create(attentionShape(c_, s_, z_))),
      buffers_(state, z_, attention_->workspaceBytes()),
      exchange_(makeExchange({state, z_, buffers_, gpu})),
      handed_(handsMetadata(c_) ? std::make_unique<Handed>(state, z_, modelBranch(c_)) : nullptr),
      handedToDraft_(handsMetadata(c_) && c_.draft ? std::make_unique<Handed>(state, z_, Branch::draftExtend)
                                                   : nullptr),
      injected_(c_.faults.empty() ? nullptr : std::make_unique<Injected>(state, z_, buffers_)),
      stages_(state, z_, buffers_, *attention_, *exchange_,
              {handed_.get(), handedToDraft_.get(), injected_.get()}),
      clock_(state.clock),
      mergedRow_(static_cast<int64_t>(s_.headsPerRank) * s_.valueDim * s_.valueBytes, "pinned") {
  if (state.member && !meets()) state.beacon = &alone_;
  if (!c_.kernelSteps.empty()) {
    recorder_ = std::make_unique<KernelRecorder>();
    kernelProblem_ = recorder_->problem();
  }
  cudaCheck(cudaDeviceSynchronize(), "preparing the GPU");
}

CudaGroup::~CudaGroup() {
  state_.beacon = nullptr;
  static_cast<void>(cudaSetDevice(gpu_));
  // What waits for other ranks does not end by itself.
  if (meets() && cudaStreamQuery(queue_->stream) == cudaErrorNotReady) part();
  if (!broken_)
    static_cast<void>(cudaDeviceSynchronize());
  else if (!endsSoon())
    leaveMemoryToProcess();
}

void CudaGroup::onGpu(const std::function<void()>& f) {
  if (broken_) throw EngineError(ErrorCode::state, "the ranks have been parted");
  useGpu(gpu_);
  try {
    f();
  } catch (const EngineError& error) {
    // What does not go away poisons the process. Work that waits for other ranks may never end, and a fault
    // is seen without waiting for it.
    if (error.code() != ErrorCode::engine) throw;
    const bool poisoned = meets() ? cudaStreamQuery(queue_->stream) != cudaErrorNotReady &&
                                        cudaDeviceSynchronize() != cudaSuccess
                                  : cudaDeviceSynchronize() != cudaSuccess;
    if (!poisoned) throw;
    throw EngineError(ErrorCode::device, faultPlace() + ": " + error.what());
  }
}

std::string CudaGroup::faultPlace() const {
  const std::optional<size_t> last = buffers_.announced();
  const std::string step = "step " + std::to_string(state_.frame.step);
  if (!last || *last >= order_.size()) return "the GPU failed before the first stage of " + step;
  const Work& work = order_[*last];
  const std::string layer = work.layer < 0 ? "" : ", layer " + std::to_string(work.layer);
  return "the GPU failed in " + std::string(name(work.stage)) + " of rank " + std::to_string(work.rank) +
         layer + ", " + step;
}

FillSizes CudaGroup::fillSizes() const { return {kFillTokens, kFillPieces}; }

void CudaGroup::fill(std::span<const FillPiece> pieces) {
  onGpu([&] {
    writeFrame();
    buffers_.uploadFrame(queue_->stream);
    for (const FillPiece& piece : pieces)
      stages_.fill(piece.layer, piece.request, piece.first, piece.last, queue_->stream);
    awaitStream("filling the context");
  });
}

/** Requests that only pad the batch keep the length 0. */
void CudaGroup::writeFrame() {
  const PinnedMemory& frame = buffers_.frameOnHost();
  std::copy_n(state_.frame.before.data(), s_.requests, frame.at<int64_t>(z_.frame.before));
  std::copy_n(state_.frame.after.data(), s_.requests, frame.at<int64_t>(z_.frame.after));
  const auto write = [&](const PageTable& table, Branch branch) {
    auto* pages = frame.at<int32_t>(buffers_.pagesOffset(branch));
    for (int r = 0; r < s_.requests; ++r)
      std::copy_n(table.row(r), table.columns(r), pages + s_.cellBegin[static_cast<size_t>(r)]);
  };
  write(state_.pages, modelBranch(c_));
  if (c_.draft) write(*state_.draftPages, Branch::draftExtend);
}

StepTimes CudaGroup::step() {
  StepTimes times{};
  onGpu([&] { times = runStep(); });
  return times;
}

StepTimes CudaGroup::runStep() {
  mergedKey_ = {};
  if (!connect()) return {};
  state_.at({Activity::preparing, {}, -1, state_.frame.step});
  buffers_.forgetAnnounced();
  clock_.refresh();
  writeFrame();
  buffers_.uploadFrame(queue_->stream);
  for (const auto& handed : {handed_.get(), handedToDraft_.get()})
    if (handed != nullptr) handed->refresh(queue_->stream);
  stages_.makeInputs(queue_->stream);
  // Others read them as soon as all have met.
  if (meets()) awaitStream("the inputs of a step");
  const StepFrame& frame = state_.frame;
  StepTimes times{};
  const bool observes = c_.observer && frame.traced;
  // The same step with tracing off comes first and last in turn, so that neither has the other's warmth.
  if (observes && frame.step % 2 == 1) times.untraced = execute({false, false});
  times.kernels.on = frame.kernels && recorder_->turnOn();
  if (frame.kernels && !times.kernels.on) kernelProblem_ = recorder_->problem();
  times.device = execute({true, frame.captured, times.kernels.on});
  exchange_->requireHealthy();
  if (times.kernels.on && !broken_) {
    cudaCheck(cudaDeviceSynchronize(), "the end of a recorded step");
    recordedOps_ = recorder_->turnOff();
  }
  times.replayed = c_.graph && !fault_.strikes(frame.step);
  slow_ = meets() || times.device > kSlowStepNs;
  if (state_.cancelled()) return times;
  record(times);
  if (observes && frame.step % 2 == 0) times.untraced = execute({false, false});
  return times;
}

/** Runs the step; returns what the device took, in nanoseconds. */
int64_t CudaGroup::execute(StepMode mode) {
  const cudaStream_t stream = queue_->stream;
  const bool replays = c_.graph && !fault_.strikes(state_.frame.step);
  const auto isCaptured = [&](const BranchWork& branch) { return graphs_->has(graphOf(branch, mode)); };
  bool runsBefore = replays && !std::all_of(branches_.begin(), branches_.end(), isCaptured);
  state_.at({Activity::beginning, {}, -1, state_.frame.step});
  if (!meetForAny(runsBefore)) return 0;
  if (runsBefore) {
    // Kernels are loaded when they first run, which must not happen while a step is captured.
    if (mode.traced) buffers_.clearStamps(order_.size(), stream);
    enqueue(mode);
    awaitStream("the step before a capture", doing(mode));
    if (stops()) return 0;
    for (const BranchWork& branch : branches_) {
      if (isCaptured(branch)) continue;
      graphs_->capture(graphOf(branch, mode), stream, [&] {
        for (size_t at = branch.begin; at < branch.end; ++at) stages_.enqueue(order_, at, mode, stream);
      });
    }
    if (!meet()) return 0;
  }
  if (mode.traced) {
    buffers_.clearStamps(order_.size(), stream);
    buffers_.clearStats(stream);
  }
  if (mode.recorded) {
    cudaCheck(cudaStreamSynchronize(stream), "the begin of a recorded step");
    recorder_->forget();
  }
  cudaCheck(cudaEventRecord(queue_->begin, stream), "the begin of a step");
  if (replays)
    for (const BranchWork& branch : branches_) graphs_->launch(graphOf(branch, mode), stream);
  else
    enqueue(mode);
  if (mode.traced)
    cudaCheck(cudaMemcpyAsync(buffers_.traceOnHost().at(), buffers_.trace().at(),
                              static_cast<size_t>(z_.trace.bytes), cudaMemcpyDeviceToHost, stream),
              "fetching the trace of a step");
  cudaCheck(cudaEventRecord(queue_->end, stream), "the end of a step");
  await(queue_->end, "a step", doing(mode));
  if (stops()) return 0;
  float ms = 0;
  cudaCheck(cudaEventElapsedTime(&ms, queue_->begin, queue_->end), "the time of a step");
  return static_cast<int64_t>(static_cast<double>(ms) * 1e6);
}

void CudaGroup::enqueue(StepMode mode) {
  for (size_t at = 0; at < order_.size(); ++at) {
    if (stops()) return;
    boundLead(at, doing(mode));
    if (fault_.strikes(state_.frame.step, order_[at]) && state_.frame.traced)
      fault_.strike(buffers_.stamps(at, mode.traced), queue_->stream);
    stages_.enqueue(order_, at, mode, queue_->stream);
  }
}

GraphKey CudaGroup::graphOf(const BranchWork& branch, StepMode mode) const {
  const bool draft = branch.branch == Branch::draftExtend;
  return {branch.branch, mode, state_.faults.launchedIn(state_.frame.step, draft)};
}

/** Lets the host be at most a layer ahead of a slow device, so that a cancel works soon. */
void CudaGroup::boundLead(size_t at, Doing doing) {
  if (!slow_ || at == 0 || order_[at].layer == order_[at - 1].layer) return;
  const int layer = order_[at].layer;
  cudaCheck(cudaEventRecord(queue_->layers[layer & 1], queue_->stream), "the end of a layer");
  if (layer > 0) await(queue_->layers[(layer + 1) & 1], "a layer", doing);
}

const unsigned char* CudaGroup::merged(int layer, int rank, int token) {
  if (meets()) {
    const unsigned char* row = meeting_->row(layer, rank, token, copyRow_);
    meeting_->control().throwIfLost();
    return row;
  }
  const MergedKey key{layer, rank, token};
  if (key == mergedKey_) return mergedRow_.at<unsigned char>();
  copyMerged(layer, rank, token, mergedRow_.at<unsigned char>());
  mergedKey_ = key;
  return mergedRow_.at<unsigned char>();
}

void CudaGroup::copyMerged(int layer, int rank, int token, unsigned char* to) {
  onGpu([&] {
    cudaCheck(cudaMemcpy(to, buffers_.merged(layer, rank) + token * mergedRow_.bytes(),
                         static_cast<size_t>(mergedRow_.bytes()), cudaMemcpyDeviceToHost),
              "fetching merged rows");
  });
}

MergedNan CudaGroup::findNan() {
  const int perToken = s_.headsPerRank * s_.valueDim;
  const RankRange own = ranks();
  const int64_t tokens = static_cast<int64_t>(c_.layers) * own.count() * z_.tokens;
  std::vector<NanCount> counts(static_cast<size_t>(tokens));
  onGpu([&] {
    for (int layer = 0; layer < c_.layers; ++layer)
      for (int i = 0; i < own.count(); ++i)
        countNan(buffers_.merged(layer, own.first + i), s_.valueBytes == 4, z_.tokens, perToken,
                 buffers_.nanCounts() + (static_cast<int64_t>(layer) * own.count() + i) * z_.tokens,
                 queue_->stream);
    cudaCheck(cudaMemcpyAsync(counts.data(), buffers_.nanCounts(), counts.size() * sizeof(NanCount),
                              cudaMemcpyDeviceToHost, queue_->stream),
              "looking for NaN");
    cudaCheck(cudaStreamSynchronize(queue_->stream), "looking for NaN");
  });
  MergedNan found;
  for (int64_t i = 0; i < tokens; ++i) {
    const auto token = static_cast<int32_t>(i % z_.tokens);
    const int32_t count = token < s_.batchTokens ? counts[static_cast<size_t>(i)].count : 0;
    if (count > 0 && found.count == 0) {
      found.layer = static_cast<int32_t>(i / z_.tokens / own.count());
      found.rank = own.first + static_cast<int32_t>(i / z_.tokens % own.count());
      found.token = token;
    }
    found.count += count;
  }
  return found;
}

bool CudaGroup::conclude(std::span<RankNotes> notes) {
  if (!meets()) return true;
  state_.at({Activity::ending, {}, -1, state_.frame.step});
  return together(meeting_->conclude(notes, copyRow_));
}

std::vector<Place> CudaGroup::places() const {
  if (!state_.member) return {};
  if (!meets()) return {alone_.seen()};
  std::vector<Place> places;
  for (int r = 0; r < c_.ranks; ++r) places.push_back(meeting_->control().beacon(r).seen());
  return places;
}

GroupFacts CudaGroup::facts() {
  // Ranks that have parted are over, and say what they know.
  if (!broken_) onGpu([&] { clock_.align(); });
  return {(meets() ? "each rank has a process and aligns by itself: " : "") + clock_.alignment(),
          clock_.uncertaintyNs(), attention_->name(), kernelProblem_};
}

}  // namespace dcpscope::cuda
