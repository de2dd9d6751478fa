#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "core/config.h"
#include "cuda/ops/token_stats.h"
#include "cuda/stamp.h"

/** Decode attention of one rank on a GPU: paged, split over keys, partials with their log-sum-exp. */
namespace dcpscope::cuda {

/** What decides kernel and launch; fixed for a run. */
struct AttentionShape {
  int requests;
  int qLen;
  /** Gathered query heads H. */
  int heads;
  /** D = latent and rope width, V = latent width. */
  int keyDim;
  int valueDim;
  KvType kvType;
  int pageSize;
  /** Keys of a row of sparse attention; 0: dense. */
  int topk;
  bool outFp32;
  /** KV heads of grouped-query attention, keyDim = valueDim = the width of a head; 0: MLA. */
  int kvHeads = 0;
  /** Asks for what only the portable kernel can do: keep codes of NaN and scales of any size, and rows
   * without counters. */
  bool portable = false;
};

/** Device pointers of one call. T = requests * qLen. */
struct AttentionInputs {
  /** bf16 [T][H][D]. */
  const void* q;
  /**
   * The rank's pool of one layer: [poolPages][pageSize] rows in the format of `kvType`, one of a token with
   * MLA; else the keys of all KV heads and behind them their values.
   */
  const void* pool;
  int64_t poolPages;
  /** Value of one unit of an fp8 cache; 1 for the others. */
  float kvScale;
  /** Page ids of request r begin at pageTable[tableBegin[r]]; ids behind its last page mean nothing. */
  const int32_t* pageTable;
  const int64_t* tableBegin;
  /** Local keys of each request [requests]; the ones that `plan` saw. */
  const int32_t* lengths;
  /** Local keys that each query token sees [T], at most its request's length. Not used when sparse. */
  const int32_t* bounds;
  /** Sparse: slot (page * pageSize + offset) of each key [T][topk], -1 for none, anywhere. */
  const int32_t* slots;
  /** Query heads in a row that attend with one KV head, before those of the next; 0: heads / kvHeads. Of a
   * number that deals all heads out evenly. */
  int headsTogether = 0;
  /** Rows of [T][H] from here on hold the first of the parts of their keys alone; portable. */
  int64_t countedRows = INT64_MAX;
  float softmaxScale;
  bool base2;
  EmptyRow emptyRow;
  /** [T][H][V] bf16 or fp32, and [T][H]. */
  void* out;
  float* lse;
  /** [T], to which statistics of the rows of tokens with keys are added, or null. Ignored unless
   * takesStats().
   */
  StatsRecord* stats;
  /** The combine may be part of the kernel that attends, which then announces itself alone. */
  Stamps attendStamps;
  Stamps combineStamps;
};

class Attention {
 public:
  virtual ~Attention() = default;

  /** The fastest kernel that can do `shape` on the current device; throws ERR_CONFIG that says why when there
   * is none. */
  static std::unique_ptr<Attention> create(const AttentionShape& shape);
  /** The one that runs on any GPU from sm_80 on. */
  static std::unique_ptr<Attention> createPortable(const AttentionShape& shape);

  /** `sm90` or `portable`. */
  virtual const char* name() const = 0;
  /** Whether `run` takes statistics while it has the rows at hand. */
  virtual bool takesStats() const = 0;
  /** Device memory that `plan` and `run` use between them; zeroed once before the first call. */
  virtual int64_t workspaceBytes() const = 0;
  /** Deals out the work for `lengths` (device, [requests]) over the multiprocessors: once a step, before
   * `run`. */
  virtual void plan(void* workspace, const int32_t* lengths, cudaStream_t stream) = 0;
  /**
   * Attention and combine. Both calls only enqueue, and can be captured into a graph. Blocks wait for the
   * parts of others: nothing else may hold multiprocessors of the device for good meanwhile.
   *
   * A row whose own scores are NaN comes out as NaN. So may one that shares a tile with a NaN key that it
   * does not see but a later query token does.
   */
  virtual void run(void* workspace, const AttentionInputs& inputs, cudaStream_t stream) = 0;
};

}  // namespace dcpscope::cuda
