#include <algorithm>
#include <atomic>
#include <limits>

#include "cuda/check.h"
#include "cuda/run/clock.h"
#include "cuda/stamp.h"

namespace dcpscope::cuda {
namespace {

constexpr int kPairs = 100;
constexpr int64_t kEveryNs = 1'000'000'000;
constexpr int64_t kPatienceNs = 2'000'000'000;

/** Host and device write to it in turn: question i, then the time at which the device saw it. */
struct Mailbox {
  volatile uint32_t question;
  volatile uint64_t answers[kPairs];
};

__global__ void answerKernel(Mailbox* box) {
  const uint64_t begin = globalTime();
  for (uint32_t i = 0; i < kPairs; ++i) {
    while (box->question <= i)
      if (globalTime() - begin > static_cast<uint64_t>(kPatienceNs)) return;
    box->answers[i] = globalTime();
    __threadfence_system();
  }
}

}  // namespace

DeviceClock::DeviceClock(const Clock& host) : host_(host), mailbox_(sizeof(Mailbox), "the clocks") {
  align();
}

void DeviceClock::refresh() {
  if (host_.now() - alignedAt_ >= kEveryNs) align();
}

void DeviceClock::align() {
  auto* box = mailbox_.at<Mailbox>();
  box->question = 0;
  for (int i = 0; i < kPairs; ++i) box->answers[i] = 0;
  answerKernel<<<1, 1>>>(mailbox_.onDevice<Mailbox>());
  launched("aligning the clocks");
  int64_t fastest = std::numeric_limits<int64_t>::max();
  int64_t offset = 0;
  const int64_t begin = host_.now();
  for (uint32_t i = 0; i < kPairs; ++i) {
    const int64_t asked = host_.now();
    box->question = i + 1;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    while (box->answers[i] == 0)
      if (host_.now() - begin > kPatienceNs) {
        cudaCheck(cudaDeviceSynchronize(), "aligning the clocks");
        throw EngineError(ErrorCode::engine, "aligning the clocks: the GPU did not answer in time");
      }
    const int64_t answered = host_.now();
    if (answered - asked >= fastest) continue;
    fastest = answered - asked;
    offset = asked + fastest / 2 - static_cast<int64_t>(box->answers[i]);
  }
  cudaCheck(cudaDeviceSynchronize(), "aligning the clocks");
  if (aligned_) drift_ = std::max(drift_, offset < offset_ ? offset_ - offset : offset - offset_);
  aligned_ = true;
  offset_ = offset;
  uncertainty_ = fastest / 2;
  alignedAt_ = host_.now();
}

std::string DeviceClock::alignment() const {
  return "the GPU's %globaltimer against the host's steady clock, the fastest of " + std::to_string(kPairs) +
         " questions and answers, at the beginning, about every second, and at the end";
}

}  // namespace dcpscope::cuda
