#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/block.h"
#include "core/run_state.h"
#include "cpu/barrier.h"
#include "cpu/inputs.h"
#include "cpu/kernels.h"
#include "cpu/plan.h"

namespace dcpscope {

class Rank;

/** Weights that rest_of_layer walks through, and again from the front when it has read all: more than most
 * caches hold. */
constexpr int64_t kLeastRestBuffer = int64_t{64} << 20;
constexpr int64_t kMaxRestBuffer = int64_t{1} << 30;
constexpr int64_t kRestChunk = int64_t{1} << 20;

inline int64_t restBufferBytes(const Config& c) {
  if (c.restOfLayerBytes == 0) return 0;
  const int64_t chunks = (c.restOfLayerBytes + kRestChunk - 1) / kRestChunk;
  return std::clamp(chunks * kRestChunk, kLeastRestBuffer, kMaxRestBuffer);
}

/** What the ranks on a CPU share beside the run's state. Written between steps only, except `enters`. */
struct Shared {
  Shared(RunState& run, int cores)
      : state(run),
        plan(config, shape),
        code(kernels()),
        inputs(config, shape),
        rest(restBufferBytes(config)),
        spins(cores >= config.ranks ? 2000 : 0),
        barrier(config.ranks, spins) {
    // Memory that was never written is one page of zeros, which every read finds in a cache.
    std::fill_n(rest.data(), rest.size(), static_cast<unsigned char>(1));
    for (Block<int64_t>& e : enters) e = Block<int64_t>(config.ranks * 8);
  }

  bool cancelled() const { return state.cancelled(); }
  /** Whether queries and partials are bf16. */
  bool bf16() const { return shape.valueBytes == 2; }
  bool wireBf16() const { return shape.wireBytes == 2; }
  /** Whether each rank has to collect the other ranks' query heads. */
  bool gathersQueries() const { return config.ranks > 1 && !config.replicateQ; }

  RunState& state;
  const Config& config = state.config;
  const Shape& shape = state.shape;
  const Clock& clock = state.clock;
  const PageTable& pages = state.pages;
  const StepFrame& frame = state.frame;
  const AttentionPlan plan;
  const Kernels& code;
  Inputs inputs;
  Block<unsigned char> rest;
  const int spins;
  Barrier barrier;
  /** When each rank entered the current collective, a cache line each; two sets in turn. */
  Block<int64_t> enters[2];
  std::vector<std::unique_ptr<Rank>> ranks;
};

}  // namespace dcpscope
