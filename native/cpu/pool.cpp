#include "cpu/pool.h"

#include <string>
#include <system_error>

#include "core/error.h"

namespace dcpscope {

Pool::Pool(int threads) : begin_(threads + 1, 0), end_(threads + 1, 0) {
  threads_.reserve(static_cast<size_t>(threads));
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error& error) {
    begin_.arrive(threads - static_cast<int>(threads_.size()));
    join();
    throw EngineError(ErrorCode::engine, std::string("cannot start threads: ") + error.what());
  }
}

Pool::~Pool() { join(); }

void Pool::join() {
  stop_ = true;
  begin_.wait();
  for (std::thread& thread : threads_) thread.join();
}

void Pool::start(void (*job)(void*, int), void* context) {
  job_ = job;
  context_ = context;
  begin_.wait();
  end_.wait();
}

void Pool::work(int thread) {
  for (;;) {
    begin_.wait();
    if (stop_) return;
    job_(context_, thread);
    end_.wait();
  }
}

}  // namespace dcpscope
