#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>
#include <string>
#include <thread>

#include "comm/segment.h"
#include "core/member.h"

namespace dcpscope::tests {

/** By what the ranks of a test meet. */
enum class Over { memory, network };
constexpr Over kBoth[] = {Over::memory, Over::network};

/** Where the ranks of one group meet; seen by processes that are forked later. */
class Places {
 public:
  explicit Places(Over over) : over_(over) {
    static int number = 0;
    name_ = "/dcpscope-test-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
    void* at = ::mmap(nullptr, sizeof(*port_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    port_ = new (at) std::atomic<int>(0);
  }
  ~Places() {
    Segment::unlink(name_);
    ::munmap(port_, sizeof(*port_));
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  /** Of any rank but the first it waits until that has come. */
  Member of(int rank, int64_t clockBase = 0, int gpu = 0) const {
    Member member{rank, name_, rank == 0, clockBase, gpu};
    if (over_ == Over::memory) return member;
    for (int tries = 0; rank > 0 && *port_ == 0 && tries < 2000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    member.network = MeetingPoint{"127.0.0.1", *port_};
    return member;
  }
  /** The first rank has come, and listens here. */
  void firstCame(int port) { *port_ = port; }

  const std::string& name() const { return name_; }

 private:
  const Over over_;
  std::string name_;
  std::atomic<int>* port_;
};

}  // namespace dcpscope::tests
