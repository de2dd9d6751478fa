#pragma once
#include <memory>
#include <string>

#include "cuda/tests/attention_problem.h"

namespace dcpscope::cuda::tests {

using CreateAttention = std::unique_ptr<Attention> (*)(const AttentionShape&);

/** An implementation under test with its buffers, each surrounded by guards. */
class AttentionBench {
 public:
  AttentionBench(const AttentionProblem& problem, CreateAttention create);

  const char* name() const { return attention_->name(); }
  /** Fills the outputs with `poison`. */
  void poison(uint8_t poison);
  /** Enqueues plan and run; `stats`: with statistics. */
  void enqueue(cudaStream_t stream, bool stats = true);
  /** Waits, and compares every row with the reference; returns the worst errors as a note. Throws a Failure.
   */
  std::string check() const;
  /** Checks the stamps of the last run. */
  void checkStamps() const;
  /** Runs again with other poison and without statistics, and expects the same bits in all rows that have
   * keys. */
  void checkRepeats();

 private:
  void checkGuards() const;
  void checkStats() const;

  const AttentionProblem& problem_;
  AttentionShape shape_;
  std::unique_ptr<Attention> attention_;
  GuardedBytes workspace_;
  GuardedBytes out_;
  DeviceArray<float> lse_;
  DeviceArray<StatsRecord> stats_;
  DeviceArray<Stamp> attendStamps_;
  DeviceArray<Stamp> combineStamps_;
  uint8_t poison_ = 0;
};

}  // namespace dcpscope::cuda::tests
