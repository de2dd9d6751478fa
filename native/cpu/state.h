#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/peers.h"
#include "core/block.h"
#include "core/run_state.h"
#include "cpu/barrier.h"
#include "cpu/fault.h"
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

/** A rank's queries of one layer, from which others gather: of each token [H / ranks][D], `stride` bytes
 * apart. */
struct QuerySlices {
  const unsigned char* first;
  int64_t stride;
};

/** What the ranks of this process share beside the run's state. Written between steps only. */
struct Shared {
  /** `peers` is what the ranks meet by; `spins` how often one looks for others before it sleeps. */
  Shared(RunState& run, std::unique_ptr<Peers> meeting, int lookRounds)
      : state(run),
        plan(config, shape),
        code(kernels()),
        peers(std::move(meeting)),
        inputs(config, shape, ownHeads(), peers->memory(state.firstRank()).queries),
        rest(restBufferBytes(config)),
        spins(lookRounds),
        fault(state.member.has_value()) {
    // Memory that was never written is one page of zeros, which every read finds in a cache.
    std::fill_n(rest.data(), rest.size(), static_cast<unsigned char>(1));
  }

  bool cancelled() const { return state.cancelled(); }
  /** Whether queries and partials are bf16. */
  bool bf16() const { return shape.valueBytes == 2; }
  bool wireBf16() const { return shape.wireBytes == 2; }
  /** Whether each rank has to collect the other ranks' query heads. */
  bool gathersQueries() const { return config.ranks > 1 && !config.replicateQ; }
  /** Heads whose queries this process makes. */
  HeadRange ownHeads() const {
    if (!state.member || !gathersQueries()) return {0, config.heads};
    return {state.member->rank * shape.headsPerRank, shape.headsPerRank};
  }

  QuerySlices queriesOf(int rank, int layer) const {
    const int64_t slice = static_cast<int64_t>(shape.headsPerRank) * shape.keyDim * shape.valueBytes;
    const unsigned char* own = peers->memory(rank).queries;
    if (own != nullptr) return {own + layer * shape.tokens * slice, slice};
    return {inputs.queries(layer) + rank * slice, config.ranks * slice};
  }

  RunState& state;
  const Config& config = state.config;
  const Shape& shape = state.shape;
  const Clock& clock = state.clock;
  const PageTable& pages = state.pages;
  const StepFrame& frame = state.frame;
  const AttentionPlan plan;
  const Kernels& code;
  const std::unique_ptr<Peers> peers;
  Inputs inputs;
  Block<unsigned char> rest;
  const int spins;
  const TestHang fault;
  /** Those of this process. */
  std::vector<std::unique_ptr<Rank>> ranks;
};

}  // namespace dcpscope
