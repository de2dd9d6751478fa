#include "comm/control.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <new>
#include <string>
#include <type_traits>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "core/error.h"

namespace dcpscope {
namespace {

constexpr int64_t kAlign = 4096;
/** Longest sleep between two looks at the others. */
constexpr int64_t kSleepNs = 20'000'000;
/** In the word that counts meetings: no further one takes place. */
constexpr uint32_t kEnded = uint32_t{1} << 31;

int64_t aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

int64_t steadyNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct alignas(128) Control::Header {
  /** Meetings that have taken place, and kEnded. */
  std::atomic<uint32_t> meetings{0};
  alignas(128) std::atomic<uint64_t> arrivals{0};
};

struct alignas(128) Control::Seat {
  Beacon beacon;
  std::atomic<uint32_t> arrived{0};
  StepReport report;
};

// Other processes see the same bytes, which only holds for what needs no lock.
static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::is_trivially_copyable_v<StepReport>);

int64_t Control::segmentBytes(int64_t room, int ranks) {
  return aligned(static_cast<int64_t>(sizeof(Header)) + ranks * static_cast<int64_t>(sizeof(Seat))) +
         ranks * aligned(room);
}

Control::Control(RunState& state, int64_t room, int64_t patience, int spins)
    : state_(state),
      ranks_(state.config.ranks),
      self_(state.member->rank),
      room_(room),
      patience_(patience),
      spins_(spins),
      segment_(state.member->creates
                   ? Segment::create(state.member->segment, segmentBytes(room, state.config.ranks))
                   : Segment::open(state.member->segment, segmentBytes(room, state.config.ranks))),
      header_(reinterpret_cast<Header*>(segment_.data())),
      pulses_(static_cast<size_t>(ranks_)),
      still_(static_cast<size_t>(ranks_)) {
  // All bytes are zero, which is what new objects would be made of.
  state_.beacon = &beacon(self_);
  state_.at({});
}

Control::~Control() {
  header_->meetings.fetch_or(kEnded, std::memory_order_acq_rel);
  ring();
  state_.beacon = nullptr;
}

Control::Seat& Control::seat(int rank) const { return reinterpret_cast<Seat*>(header_ + 1)[rank]; }

Beacon& Control::beacon(int rank) const { return seat(rank).beacon; }

StepReport& Control::report(int rank) const { return seat(rank).report; }

unsigned char* Control::room(int rank) const {
  return segment_.data() + segmentBytes(room_, ranks_) - (ranks_ - rank) * aligned(room_);
}

bool Control::meet() {
  if (lost_ || state_.cancelled()) {
    // No meeting takes place without this rank, so the others need not wait for it.
    static_cast<void>(giveUp(turn_ + 1));
    if (lost_) __atomic_store_n(&state_.cancel, 1, __ATOMIC_RELAXED);
    return false;
  }
  const uint32_t turn = ++turn_;
  seat(self_).arrived.store(turn, std::memory_order_release);
  const uint64_t all = static_cast<uint64_t>(turn) * static_cast<uint64_t>(ranks_);
  if (header_->arrivals.fetch_add(1, std::memory_order_acq_rel) + 1 == all) {
    uint32_t before = turn - 1;
    if (header_->meetings.compare_exchange_strong(before, turn, std::memory_order_acq_rel)) {
      ring();
      return true;
    }
  }
  return wait(turn);
}

bool Control::wait(uint32_t turn) {
  for (int i = 0; i < spins_; ++i) {
    if (header_->meetings.load(std::memory_order_acquire) >= turn) break;
    pause();
  }
  beginWatch();
  for (;;) {
    const uint32_t seen = header_->meetings.load(std::memory_order_acquire);
    if ((seen & ~kEnded) >= turn) return true;
    if (seen >= kEnded) {
      takeEnd();
      return false;
    }
    if (state_.cancelled()) {
      if (giveUp(turn)) return false;
      continue;
    }
    const int late = overdue(turn);
    if (late >= 0 && lose(late, turn)) return false;
    sleep(seen);
  }
}

void Control::beginWatch() {
  watchedAt_ = steadyNow();
  std::fill(still_.begin(), still_.end(), 0);
}

bool Control::watch() {
  if (lost_) return false;
  beacon(self_).beat();
  if (header_->meetings.load(std::memory_order_acquire) >= kEnded) {
    takeEnd();
    return false;
  }
  const int late = overdue(turn_ + 1);
  if (late < 0) return true;
  lose(late);
  return false;
}

void Control::lose(int rank) {
  if (!lose(rank, turn_ + 1)) takeEnd();
}

bool Control::lose(int rank, uint32_t turn) {
  if (!giveUp(turn)) return false;
  lost_ = true;
  absent_ = rank;
  missed_ = beacon(self_).seen();
  __atomic_store_n(&state_.cancel, 1, __ATOMIC_RELAXED);
  return true;
}

void Control::takeEnd() {
  if (lost_ || cancelledSoon()) return;
  lost_ = true;
  __atomic_store_n(&state_.cancel, 1, __ATOMIC_RELAXED);
}

bool Control::cancelledSoon() const {
  constexpr int64_t kWaitNs = 500'000'000;
  const timespec moment{0, 2'000'000};
  for (const int64_t begin = steadyNow(); steadyNow() - begin < kWaitNs; nanosleep(&moment, nullptr))
    if (state_.cancelled()) return true;
  return false;
}

bool Control::giveUp(uint32_t turn) {
  uint32_t before = turn - 1;
  if (!header_->meetings.compare_exchange_strong(before, before | kEnded, std::memory_order_acq_rel))
    return false;
  ring();
  return true;
}

int Control::overdue(uint32_t turn) {
  const int64_t now = steadyNow();
  // A process that was stopped itself, or the whole machine, has seen nothing of that time.
  const int64_t watched = std::min(now - watchedAt_, 5 * kSleepNs);
  watchedAt_ = now;
  int late = -1;
  for (int r = 0; r < ranks_; ++r) {
    const auto i = static_cast<size_t>(r);
    if (r == self_) continue;
    if (seat(r).arrived.load(std::memory_order_acquire) >= turn) continue;
    const uint64_t pulse = beacon(r).pulse.load(std::memory_order_relaxed);
    still_[i] = pulse == pulses_[i] ? still_[i] + watched : 0;
    pulses_[i] = pulse;
    if (still_[i] > patience_ && late < 0) late = r;
  }
  return late;
}

#if defined(__linux__)

void Control::ring() { syscall(SYS_futex, &header_->meetings, FUTEX_WAKE, ranks_, nullptr, nullptr, 0); }

void Control::sleep(uint32_t seen) {
  const timespec most{0, kSleepNs};
  syscall(SYS_futex, &header_->meetings, FUTEX_WAIT, seen, &most, nullptr, 0);
}

#else

void Control::ring() {}

void Control::sleep(uint32_t) {
  const timespec moment{0, 100'000};
  nanosleep(&moment, nullptr);
}

#endif

void Control::throwIfLost() const {
  if (!lost_) return;
  if (absent_ < 0) throw EngineError(ErrorCode::abandoned, "another rank has ended the run");
  const Place at = seat(absent_).beacon.seen();
  throw EngineError(ErrorCode::absent,
                    "rank " + std::to_string(absent_) + " did not come to " + describe(missed_) + " within " +
                        std::to_string(patience_ / 1'000'000'000) + " s; it is in " + describe(at));
}

}  // namespace dcpscope
