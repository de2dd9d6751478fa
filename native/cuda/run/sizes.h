#pragma once
#include <cstdint>
#include <vector>

#include "core/config.h"
#include "core/memory.h"
#include "cuda/attention.h"
#include "cuda/ops/transport.h"

namespace dcpscope::cuda {

/** Whether ranks are handed other metadata than the kernel makes: by faults, or for rows that pad the batch.
 */
bool handsMetadata(const Config& config);

/** Requests of the batch that is computed: replays of graphs are captured for some sizes only. */
int paddedRequests(int requests, bool graph);

/** Bytes of everything that a run keeps on the GPU, all offsets multiples of 256. */
struct Sizes {
  Sizes(const Config& config, const Shape& shape);

  /** Padded; T = tokens = requests * qLen. */
  int requests;
  int tokens;
  /** Layers of the model and of the draft, and the branches of metadata that they take. */
  int layers;
  int branches;
  /** Ranks that the GPU computes for this process: all in turn, or one. */
  int ranks;
  /** Heads whose queries are made here: all, or those of the one rank. */
  int madeHeads;
  /** Of one rank and layer. */
  int64_t pool;
  /** Of one layer: queries [T][H][D], those of them that are made here, rows of new tokens
   * [T][cacheParts][D], chosen ids [T][topk]. */
  int64_t queries;
  int64_t made;
  int64_t keys;
  int64_t ids;
  /** Gathered queries, shared by the ranks, and as NCCL brings them [c][T][H/c][D]; 0 where there are none.
   */
  int64_t gathered;
  int64_t slices;
  /** Of one rank: out [T][H][V], lse [T][H], wire or sent messages, what is received, slots [T][topk]. */
  int64_t out;
  int64_t lse;
  /** The lse of one rank as the kernel keeps it, where that is not [T][H]; else 0. */
  int64_t kernelLse;
  int64_t wire;
  int64_t received;
  int64_t slots;
  /** lse of all ranks. */
  int64_t lses;
  /** What peers read and write, one allocation: flags, partials of two layers in turn, made queries. */
  struct {
    int64_t flags;
    int64_t count;
    int64_t out;
    int64_t lse;
    int64_t queries;
    int64_t bytes;
  } shared;
  /** Of one layer and rank: [T][H / ranks][V]. */
  int64_t merged;
  int64_t rest;

  /** What the host writes before a step: lengths before and after, page ids, `branchPages` of each branch. */
  struct {
    int64_t before;
    int64_t after;
    int64_t pages;
    int64_t bytes;
  } frame;
  int64_t branchPages;
  /** Slots of the new tokens of one rank and branch. */
  int64_t slotMapping;
  /**
   * What the host hands one rank in one branch where the metadata kernel does not say it: of each request its
   * local length, keys that attention walks over, and bounds of its tokens; how many columns its page table
   * has and its page ids, which lie where `tableBegin` says; slots of new tokens. 0 bytes where it hands
   * nothing.
   */
  struct {
    int64_t lengths;
    int64_t keys;
    int64_t bounds;
    int64_t columns;
    int64_t pages;
    int64_t slots;
    int64_t bytes;
  } handed;
  int64_t tableBegin;
  /** Tokens of the prompts, where tokens behind them are dealt out anew. */
  int64_t prompts;
  /** Of faults: bounds by which rows are neutralised [T], and a pool as it is misread. */
  int64_t ruledBounds;
  int64_t misread;

  /** What is copied to the host after a step. */
  struct {
    int64_t stamps;
    int64_t stats;
    int64_t lengths;
    int64_t bounds;
    int64_t bytes;
  } trace;
  /** Statistics of these ranks and all layers, [T] records each. */
  int64_t stats;
  /** Bounds of one rank, in a branch or by the keys that a layer chose. */
  int64_t bounds;

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

/** Where a kernel keeps its lse, of the batch that is computed. */
LsePlace lsePlace(const Config& config, const Shape& shape, const Sizes& sizes);
AttentionShape attentionShape(const Config& config, const Shape& shape, const Sizes& sizes);
TransportShape transportShape(const Config& config, const Shape& shape, const Sizes& sizes);

/** By purpose, of one process; `workspace` is what attention asks for, for one rank. */
std::vector<MemoryComponent> components(const Config& config, const Sizes& sizes, int64_t workspace);

}  // namespace dcpscope::cuda
