#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/block.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/pages.h"
#include "cpu/barrier.h"
#include "cpu/inputs.h"
#include "cpu/kernels.h"
#include "cpu/plan.h"

namespace dcpscope {

class Rank;

/** Bytes that rest_of_layer reads at most before it begins again at the front. */
constexpr int64_t kMaxRestBuffer = int64_t{1} << 30;
constexpr int64_t kRestChunk = int64_t{1} << 20;

inline int64_t restBufferBytes(const Config& c) {
  const int64_t chunks = (c.restOfLayerBytes + kRestChunk - 1) / kRestChunk;
  return std::min(chunks * kRestChunk, kMaxRestBuffer);
}

/** The step that all ranks work on. */
struct StepFrame {
  /** Traced step; warm-up runs as step 0. */
  int step = 0;
  bool traced = false;
  bool captured = false;
  /** Per request: length before and after the new tokens. */
  Block<int64_t> before;
  Block<int64_t> after;
};

/** What the ranks of a run share. Written between steps only, except `enters`. */
struct Shared {
  Shared(const Config& c, int cores)
      : config(c),
        shape(config),
        plan(config, shape),
        code(kernels()),
        pages(config, shape),
        inputs(config, shape),
        rest(restBufferBytes(config)),
        spins(cores >= config.ranks ? 2000 : 0),
        barrier(config.ranks, spins) {
    frame.before = Block<int64_t>(shape.requests);
    frame.after = Block<int64_t>(shape.requests);
    for (Block<int64_t>& e : enters) e = Block<int64_t>(config.ranks * 8);
  }

  bool cancelled() const { return __atomic_load_n(&cancel, __ATOMIC_RELAXED) != 0; }
  bool bf16() const { return config.kvType == KvType::bf16; }
  bool wireBf16() const { return shape.wireBytes == 2; }
  /** Whether each rank has to collect the other ranks' query heads. */
  bool gathersQueries() const { return config.ranks > 1 && !config.replicateQ; }
  bool captures(int layer) const { return frame.captured && contains(config.captureLayers, layer); }

  static bool contains(const std::vector<int>& list, int value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  }

  const Config config;
  const Shape shape;
  const AttentionPlan plan;
  const Kernels& code;
  const Clock clock;
  PageTable pages;
  Inputs inputs;
  Block<unsigned char> rest;
  const int spins;
  Barrier barrier;
  /** When each rank entered the current collective, a cache line each; two sets in turn. */
  Block<int64_t> enters[2];
  StepFrame frame;
  std::vector<std::unique_ptr<Rank>> ranks;
  /** Non-zero stops all work soon. */
  int cancel = 0;
};

}  // namespace dcpscope
