#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "cuda/check.h"
#include "cuda/run/group.h"

/** How a rank waits for its GPU and for the others, so that it ends when they are lost. */
namespace dcpscope::cuda {
namespace {

using Steady = std::chrono::steady_clock;

/** How long the process of a rank may take until its first step. */
constexpr int64_t kStartPatienceNs = 60'000'000'000;
/** What a cancelled step may still take to come to its end by itself, and once nothing waits for others. */
constexpr std::chrono::milliseconds kGrace{300};
constexpr std::chrono::seconds kLetGo{2};
constexpr std::chrono::nanoseconds kStandstill{kDevicePatienceNs};
/** Looks at the device come close to each other at first. */
constexpr std::chrono::microseconds kAtFirst{500};
constexpr std::chrono::microseconds kSleep{50};
constexpr std::chrono::milliseconds kBetweenWatches{2};

/** Something that another thread does. */
struct Aside {
  std::atomic<bool> done{false};
  std::exception_ptr error;
};

/** Starts `work` on a thread that may outlive this call, and everything else, when it does not come back. */
std::shared_ptr<Aside> aside(std::function<void()> work) {
  auto task = std::make_shared<Aside>();
  std::thread([task, work = std::move(work)] {
    try {
      work();
    } catch (...) {
      task->error = std::current_exception();
    }
    task->done.store(true, std::memory_order_release);
  }).detach();
  return task;
}

}  // namespace

bool CudaGroup::connect() {
  if (!meets() || connected_) return true;
  state_.at({Activity::beginning, {}, -1, state_.frame.step});
  Control& control = meeting_->control();
  const int64_t patience = control.patience();
  // The others may still allocate and fill.
  control.setPatience(kStartPatienceNs);
  const std::optional<std::vector<PeerRecord>> records = meeting_->exchange(exchange_->record());
  if (!together(records.has_value())) return false;
  if (const std::function<void()> waits = exchange_->connect(*records, queue_)) {
    const std::shared_ptr<Aside> task = aside(waits);
    const Steady::time_point begun = Steady::now();
    watch(
        [&] {
          requireConnectedSoon(begun);
          return task->done.load(std::memory_order_acquire);
        },
        Doing::other);
    if (broken_) return false;
    if (task->error) std::rethrow_exception(task->error);
  }
  if (!meet()) return false;
  control.setPatience(patience);
  connected_ = true;
  return true;
}

void CudaGroup::requireConnectedSoon(Steady::time_point begun) {
  if (Steady::now() - begun < std::chrono::nanoseconds(kStartPatienceNs)) return;
  part();
  throw EngineError(ErrorCode::engine,
                    "NCCL did not connect the ranks within " +
                        std::to_string(kStartPatienceNs / 1'000'000'000) +
                        " s; NCCL_SOCKET_IFNAME names the network that it is to take, NCCL_DEBUG=INFO shows "
                        "what it does");
}

bool CudaGroup::meet() {
  if (!meets()) return true;
  if (broken_) return false;
  return together(meeting_->control().meet());
}

bool CudaGroup::meetForAny(bool& wish) {
  if (!meets()) return true;
  if (broken_) return false;
  const auto wishes = meeting_->exchange(static_cast<char>(wish));
  if (!together(wishes.has_value())) return false;
  wish = std::any_of(wishes->begin(), wishes->end(), [](char one) { return one != 0; });
  return true;
}

bool CudaGroup::together(bool met) {
  if (met) return true;
  part();
  meeting_->control().throwIfLost();
  return false;
}

void CudaGroup::awaitStream(const char* what, Doing doing) {
  if (!meets()) return cudaCheck(cudaStreamSynchronize(queue_->stream), what);
  cudaCheck(cudaEventRecord(queue_->end, queue_->stream), what);
  await(queue_->end, what, doing);
}

void CudaGroup::await(cudaEvent_t event, const char* what, Doing doing) {
  if (!meets()) return cudaCheck(cudaEventSynchronize(event), what);
  cudaError_t result = cudaErrorNotReady;
  watch(
      [&] {
        result = cudaEventQuery(event);
        return result != cudaErrorNotReady;
      },
      doing);
  if (!broken_) cudaCheck(result, what);
}

void CudaGroup::watch(const std::function<bool()>& done, Doing doing) {
  Control& control = meeting_->control();
  bool came = waitFor(done, doing);
  // What has waited in vain for a rank is done as well.
  if (const int lost = exchange_->lostRank(); lost >= 0) {
    control.lose(lost, kDevicePatienceNs);
    came = false;
  }
  if (came) return;
  breakOff(doing);
  control.throwIfLost();
}

/**
 * Looks again and again until `done`, and in between at the other ranks. False when one is lost, and when the
 * run is cancelled and the step had some time to come to its end by itself.
 */
bool CudaGroup::waitFor(const std::function<bool()>& done, Doing doing) {
  Control& control = meeting_->control();
  control.beginWatch();
  const Steady::time_point begun = Steady::now();
  Steady::time_point looked = begun;
  Steady::time_point moved = begun;
  Steady::time_point cancelled = Steady::time_point::max();
  std::tuple<std::optional<size_t>, int, uint64_t> place;
  while (!done()) {
    const Steady::time_point now = Steady::now();
    if (now - begun > kAtFirst) std::this_thread::sleep_for(kSleep);
    if (now - looked < kBetweenWatches) continue;
    looked = now;
    if (doing != Doing::other) showPlace();
    if (state_.cancelled()) cancelled = std::min(cancelled, now);
    if (cancelled < now && now - cancelled > kGrace) return false;
    const int hindmost = meeting_->hindmost();
    const std::tuple at(buffers_.announced(), hindmost, control.beacon(hindmost).place.load());
    if (at != place) moved = now;
    place = at;
    if (doing != Doing::other && now - moved > kStandstill) stoodStill(hindmost);
    if (exchange_->lostRank() >= 0 || !control.watch()) return false;
  }
  return true;
}

/** Shows the others which stage the device is in. */
void CudaGroup::showPlace() {
  const std::optional<size_t> last = buffers_.announced();
  if (last && *last < order_.size()) state_.at(placeOf(order_[*last]));
}

Place CudaGroup::placeOf(const Work& work) const {
  return {Activity::stage, work.stage, static_cast<int16_t>(work.layer), state_.frame.step};
}

/** Neither this device nor the rank that is furthest behind has gone on for too long. */
void CudaGroup::stoodStill(int hindmost) {
  if (hindmost != state_.firstRank()) return meeting_->control().lose(hindmost, kDevicePatienceNs);
  const std::string place = describe(meeting_->control().beacon(hindmost).seen());
  part();
  throw EngineError(ErrorCode::engine,
                    "the GPU of rank " + std::to_string(hindmost) + " stands still in " + place);
}

void CudaGroup::part() {
  if (broken_) return;
  broken_ = true;
  exchange_->breakOff();
  // A communicator lets go when the graphs that use it are gone, and those end when it does.
  aside([graphs = std::exchange(graphs_, std::make_shared<Graphs>()), gpu = gpu_]() mutable {
    static_cast<void>(cudaSetDevice(gpu));
    graphs.reset();
  });
}

void CudaGroup::breakOff(Doing doing) {
  const std::optional<size_t> at = buffers_.announced();
  part();
  if (endsSoon() && doing == Doing::tracedStep && at) recordEnded(*at);
}

bool CudaGroup::endsSoon() {
  const Steady::time_point begun = Steady::now();
  cudaError_t result = cudaStreamQuery(queue_->stream);
  while (result == cudaErrorNotReady && Steady::now() - begun < kLetGo) {
    std::this_thread::sleep_for(kSleep);
    result = cudaStreamQuery(queue_->stream);
  }
  return result == cudaSuccess;
}

}  // namespace dcpscope::cuda
