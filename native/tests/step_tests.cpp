#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "cpu/group.h"
#include "run/run.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace {

std::atomic<int64_t> allocations{0};

void* counted(std::size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace dcpscope::tests {
namespace {

Config smallConfig() {
  Config config;
  config.ranks = 4;
  config.heads = 8;
  config.kvLoraRank = 64;
  config.ropeDim = 16;
  config.layers = 3;
  config.softmaxScale = 0.1;
  config.pageSize = 16;
  config.contextLens = {0, 7, 3000, 20000};
  config.qLen = 2;
  config.acceptedPerStep = 2;
  config.steps = 200;
  config.warmup = 1;
  return config;
}

void fill(Run& run) {
  while (run.fill(1e9) < 1) continue;
}

void drain(Run& run) {
  for (const NamedRing& named : run.rings()) named.ring->discard(named.ring->size());
}

void stepsAllocateNothing() {
  for (const Comm comm : {Comm::agRs, Comm::a2a, Comm::p2p})
    for (const int ranks : {1, 4}) {
      Config config = smallConfig();
      config.comm = comm;
      config.ranks = ranks;
      if (comm == Comm::a2a) {
        config.lseLayout = LseLayout::heads;
        config.lseBf16 = true;
        config.paddedHeads = 64;
      }
      Run run(config, cpuDevice());
      fill(run);
      run.advance(1, 1e9, 0);
      const int64_t before = allocations;
      const AdvanceResult result = run.advance(20, 1e9, 0);
      EXPECT(result.stepsDone == 21);
      EXPECT(allocations == before);
      EXPECT(run.dropped() == 0);
    }
}

void basesAgree() {
  float least[2] = {};
  for (const bool base2 : {false, true}) {
    Config config = smallConfig();
    config.base2 = base2;
    config.steps = 3;
    config.checkRows = kCheckAll;
    config.kvType = KvType::fp32;
    Run run(config, cpuDevice());
    fill(run);
    const AdvanceResult result = run.advance(3, 1e9, 0);
    EXPECT(result.finished && !result.ringsFull);
    for (const NamedRing& named : run.rings())
      if (std::string(named.table) == "rows" && named.rank == 0) {
        std::vector<float> lse(static_cast<size_t>(named.ring->size()));
        named.ring->copy(13, named.ring->size(), lse.data());
        least[base2 ? 1 : 0] = lse.back();
      }
    EXPECT(run.dropped() == 0);
  }
  // The same sums in another base.
  EXPECT(std::abs(least[0] * 1.442695F - least[1]) < 1e-4F);
}

void cancelFromAnotherThreadEndsAStep() {
  Config config = smallConfig();
  config.heads = 128;
  config.contextLens = {60000};
  config.layers = 30;
  config.kvLoraRank = 16;
  config.ropeDim = 0;
  for (int i = 0; i < 5; ++i) {
    Run run(config, cpuDevice());
    fill(run);
    run.arm();
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10 * i));
      run.cancel();
    });
    bool cancelled = false;
    try {
      run.advance(200, 1e9, 0);
    } catch (const EngineError& error) {
      cancelled = error.code() == ErrorCode::cancelled;
    }
    other.join();
    EXPECT(cancelled);
    drain(run);
  }
}

}  // namespace

void steps() {
  stepsAllocateNothing();
  basesAgree();
  cancelFromAnotherThreadEndsAStep();
}

}  // namespace dcpscope::tests
