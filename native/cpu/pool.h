#pragma once
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/cores.h"
#include "cpu/barrier.h"

namespace dcpscope {

/** Threads that live as long as a run. Starting work allocates nothing. */
class Pool {
 public:
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return static_cast<int>(threads_.size()); }

  /** Calls f(thread) once on every thread and returns when all are done. f must not throw. */
  template <class F>
  void each(F&& f) {
    start([](void* context, int thread) { (*static_cast<std::remove_reference_t<F>*>(context))(thread); },
          &f);
  }

  /** Calls f(thread, item) for items 0 .. count - 1, each once, on whichever thread is free. */
  template <class F>
  void forEach(int64_t count, F&& f) {
    std::atomic<int64_t> next{0};
    each([&](int thread) {
      for (int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) f(thread, i);
    });
  }

 private:
  void start(void (*job)(void*, int), void* context);
  void work(int thread);
  void join();

  void (*job_)(void*, int) = nullptr;
  void* context_ = nullptr;
  bool stop_ = false;
  Barrier begin_;
  Barrier end_;
  std::vector<std::thread> threads_;
};

}  // namespace dcpscope
