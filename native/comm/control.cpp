#include "comm/control.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>

#include "core/error.h"

namespace dcpscope {
namespace {

/** Longest sleep between two looks at the others. */
constexpr int64_t kSleepNs = 20'000'000;

constexpr uint32_t kEnded = Board::kEnded;

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

Control::Control(RunState& state, int64_t room, int64_t patience, int spins)
    : state_(state),
      ranks_(state.config.ranks),
      self_(state.member->rank),
      patience_(patience),
      spins_(spins),
      venue_(venueOf(*state.member, room, ranks_)),
      board_(venue_->board()),
      pulses_(static_cast<size_t>(ranks_)),
      still_(static_cast<size_t>(ranks_)) {
  state_.beacon = &beacon(self_);
  state_.at({});
}

Control::~Control() { state_.beacon = nullptr; }

Beacon& Control::beacon(int rank) const { return board_.beacon(rank); }

StepReport& Control::report(int rank) const { return board_.report(rank); }

unsigned char* Control::room(int rank) const { return board_.room(rank); }

void Control::show(const void* from, int64_t bytes, Readers readers) {
  shown_.push_back({static_cast<const unsigned char*>(from) - room(self_), bytes, readers});
}

bool Control::meet() {
  if (lost_ || state_.cancelled()) {
    // No meeting takes place without this rank, so the others need not wait for it.
    static_cast<void>(giveUp(turn_ + 1));
    if (lost_) __atomic_store_n(&state_.cancel, 1, __ATOMIC_RELAXED);
    return false;
  }
  const uint32_t turn = ++turn_;
  venue_->arrive(turn, shown_);
  shown_.clear();
  return wait(turn);
}

bool Control::wait(uint32_t turn) {
  for (int i = 0; i < spins_; ++i) {
    if (board_.meetings().load(std::memory_order_acquire) >= turn) break;
    pause();
  }
  beginWatch();
  for (;;) {
    const uint32_t seen = board_.meetings().load(std::memory_order_acquire);
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
    if (late >= 0 && lose(late, patience_, turn)) return false;
    board_.sleep(seen, kSleepNs);
  }
}

void Control::beginWatch() {
  watchedAt_ = steadyNow();
  std::fill(still_.begin(), still_.end(), 0);
}

bool Control::watch() {
  if (lost_) return false;
  beacon(self_).beat();
  if (board_.meetings().load(std::memory_order_acquire) >= kEnded) {
    takeEnd();
    return false;
  }
  const int late = overdue(turn_ + 1);
  if (late < 0) return true;
  lose(late, patience_);
  return false;
}

void Control::lose(int rank, int64_t waited) {
  if (!lose(rank, waited, turn_ + 1)) takeEnd();
}

bool Control::lose(int rank, int64_t waited, uint32_t turn) {
  if (!giveUp(turn)) return false;
  lost_ = true;
  absent_ = rank;
  waited_ = waited;
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

bool Control::giveUp(uint32_t turn) { return venue_->end(turn); }

int Control::overdue(uint32_t turn) {
  const int64_t now = steadyNow();
  // A process that was stopped itself, or the whole machine, has seen nothing of that time.
  const int64_t watched = std::min(now - watchedAt_, 5 * kSleepNs);
  watchedAt_ = now;
  const bool hears = venue_->hears();
  int late = -1;
  for (int r = 0; r < ranks_; ++r) {
    const auto i = static_cast<size_t>(r);
    if (r == self_ || board_.arrived(r).load(std::memory_order_acquire) >= turn) continue;
    // Nothing is known of the others while the first rank says nothing.
    if (r > 0 && !hears) continue;
    const uint64_t pulse = beacon(r).pulse.load(std::memory_order_relaxed);
    still_[i] = pulse == pulses_[i] ? still_[i] + watched : 0;
    pulses_[i] = pulse;
    if (still_[i] > patience_ && late < 0) late = r;
  }
  return late;
}

void Control::throwIfLost() const {
  if (!lost_) return;
  if (absent_ < 0) {
    const std::string broken = venue_->broken();
    if (!broken.empty()) throw EngineError(ErrorCode::absent, broken);
    throw EngineError(ErrorCode::abandoned, "another rank has ended the run");
  }
  throw EngineError(ErrorCode::absent, "rank " + std::to_string(absent_) + " did not come to " +
                                           describe(missed_) + " within " +
                                           std::to_string(waited_ / 1'000'000'000) + " s; it is in " +
                                           describe(beacon(absent_).seen()));
}

}  // namespace dcpscope
