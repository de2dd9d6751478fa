#pragma once
#include <cstdint>
#include <vector>

#include "core/config.h"
#include "core/memory.h"
#include "cuda/attention.h"
#include "cuda/ops/transport.h"

namespace dcpscope::cuda {

/** Requests of the batch that is computed: replays of graphs are captured for some sizes only. */
int paddedRequests(int requests, bool graph);

/** Bytes of everything that a run keeps on the GPU, all offsets multiples of 256. */
struct Sizes {
  Sizes(const Config& config, const Shape& shape);

  /** Padded; T = tokens = requests * qLen. */
  int requests;
  int tokens;
  /** Of one rank and layer. */
  int64_t pool;
  /** Of one layer: queries [T][H][D], new keys [T][D], chosen ids [T][topk]. */
  int64_t queries;
  int64_t keys;
  int64_t ids;
  /** Gathered queries, shared by the ranks; 0 where none are gathered. */
  int64_t gathered;
  /** Of one rank: out [T][H][V], lse [T][H], wire or sent messages, received messages, slots [T][topk]. */
  int64_t out;
  int64_t lse;
  int64_t wire;
  int64_t received;
  int64_t slots;
  /** lse of all ranks. */
  int64_t lses;
  /** Of one layer and rank: [T][H / ranks][V]. */
  int64_t merged;
  int64_t rest;

  /** What the host writes before a step: lengths before and after, page ids. */
  struct {
    int64_t before;
    int64_t after;
    int64_t pages;
    int64_t bytes;
  } frame;
  /** Slots of the new tokens of one rank. */
  int64_t slotMapping;

  /** What is copied to the host after a step. */
  struct {
    int64_t stamps;
    int64_t stats;
    int64_t lengths;
    int64_t bounds;
    int64_t bytes;
  } trace;
  /** Statistics of all ranks and layers, [T] records each. */
  int64_t stats;
  /** Bounds of one layer and rank. */
  int64_t boundsPerLayer;

  /** Of one captured layer of one rank. */
  struct {
    int64_t q;
    int64_t slots;
    int64_t outKernel;
    int64_t lseKernel;
    int64_t out;
    int64_t lse;
    int64_t bytes;
  } capture;
  int capturedLayers;
};

AttentionShape attentionShape(const Config& config, const Shape& shape, const Sizes& sizes);
TransportShape transportShape(const Config& config, const Shape& shape, const Sizes& sizes);

/** By purpose; `workspace` is what attention asks for, for one rank. */
std::vector<MemoryComponent> components(const Config& config, const Sizes& sizes, int64_t workspace);

}  // namespace dcpscope::cuda
