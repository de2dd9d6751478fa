#pragma once
#include <atomic>
#include <cstdint>

namespace dcpscope {

/** Barrier of a fixed number of threads that spins for a moment and then sleeps. */
class Barrier {
 public:
  /** `spins`: rounds before sleeping; 0 where threads share cores. */
  Barrier(int threads, int spins) : threads_(threads), spins_(spins) {}

  /** Stands in for `threads` that will never come. */
  void arrive(int threads) { arrived_.fetch_add(threads, std::memory_order_acq_rel); }

  void wait() {
    const uint32_t phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.fetch_add(1, std::memory_order_acq_rel);
      phase_.notify_all();
      return;
    }
    for (int i = 0; i < spins_; ++i) {
      if (phase_.load(std::memory_order_acquire) != phase) return;
      pause();
    }
    while (phase_.load(std::memory_order_acquire) == phase) phase_.wait(phase, std::memory_order_acquire);
  }

 private:
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  const int threads_;
  const int spins_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> phase_{0};
};

}  // namespace dcpscope
