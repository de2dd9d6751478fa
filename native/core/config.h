#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/faults.h"
#include "core/kv_type.h"
#include "core/lse_layout.h"

namespace dcpscope {

enum class Comm { agRs, a2a, p2p };
/** What the kernel leaves in rows without keys: (0, -inf), stale memory, (0, +inf), (NaN, -inf). */
enum class EmptyRow { neutral, unwritten, plusInf, nan };
/** What a merge does with the payload of a row whose weight is 0: leaves it out, or multiplies it (0 * NaN is
 * NaN). */
enum class ZeroWeight { dropped, multiplied };
/** What a merge makes of a row that is empty on all ranks. */
enum class AllEmpty { zero, nan };

constexpr int kCheckAuto = -1;
constexpr int kCheckAll = -2;

/** One DCP group, every default resolved: the native side of app/run/engine-config.ts. */
struct Config {
  int ranks = 1;
  int heads = 1;
  /** Of MLA, whose key is one for all heads. */
  int kvLoraRank = 512;
  int ropeDim = 64;
  /** KV heads of grouped-query attention that the rank keeps, and their width; 0: MLA. */
  int kvHeads = 0;
  int headDim = 0;
  int layers = 1;
  double softmaxScale = 1;
  int interleave = 1;
  /** Tokens behind the context of a request are dealt out anew, from rank 0 on. */
  bool restarts = false;
  Comm comm = Comm::agRs;
  bool wireFp32 = false;
  bool replicateQ = false;
  int pageSize = 64;
  KvType kvType = KvType::bf16;
  /** Tokens of one rank's pool; 0: as many as the run needs. */
  int64_t poolTokens = 0;
  bool shuffledPages = false;
  std::vector<int64_t> contextLens;
  int qLen = 1;
  /** A draft of one attention layer, with pages of its own, proposes the tokens of each step. */
  bool draft = false;
  int acceptedPerStep = 1;
  int steps = 1;
  int warmup = 0;
  uint32_t seed = 1;
  bool needles = false;
  /** Keys that each query token attends to; 0: all that it sees. */
  int topk = 0;
  bool base2 = false;
  EmptyRow emptyRow = EmptyRow::neutral;
  /** The kernel rounds its lse to bf16, and keeps it in a layout of its own. */
  bool lseBf16 = false;
  LseLayout lseLayout = LseLayout::tokens;
  /** Heads that the kernel computes; those above `heads` are padding. 0: just `heads`. */
  int paddedHeads = 0;
  ZeroWeight zeroWeight = ZeroWeight::dropped;
  AllEmpty allEmpty = AllEmpty::zero;
  /** Each rank has a process of its own. */
  bool processes = false;
  /** Whether GPUs compute the run, and whether they replay captured graphs. */
  bool cuda = false;
  bool graph = false;
  /** Requests at the end of `contextLens` that only pad the batch, and their length: 0 or 1 token. */
  int padRequests = 0;
  int padLength = 0;
  /** Weights that each rank reads per layer besides attention, and its operations on them. */
  int64_t restOfLayerBytes = 0;
  int64_t restOfLayerFlops = 0;
  /** Statistics of every query row. */
  bool rowStats = true;
  /** Runs every step on a GPU once more with tracing off, so that the cost of tracing shows. */
  bool observer = false;
  /** Query rows a step, or kCheckAuto, kCheckAll. */
  int checkRows = kCheckAuto;
  std::vector<int> captureSteps;
  std::vector<int> captureLayers;
  /** Steps on a GPU whose kernels are recorded. */
  std::vector<int> kernelSteps;
  std::vector<Fault> faults;
};

/** Values of a key, and of a partial. */
inline int keyDimOf(const Config& c) { return c.kvHeads > 0 ? c.headDim : c.kvLoraRank + c.ropeDim; }
inline int valueDimOf(const Config& c) { return c.kvHeads > 0 ? c.headDim : c.kvLoraRank; }

/** Throws ERR_CONFIG that names the field and the rule. */
void validate(const Config& config);

/** Sizes that follow from a valid configuration. */
struct Shape {
  explicit Shape(const Config& config);

  int requests;
  /** Query tokens of a step: requests * qLen; and those of them that do not only pad the batch. */
  int tokens;
  int batchTokens;
  int keyDim;    // D
  int valueDim;  // V
  int headsPerRank;
  /** Heads that a kernel computes, with padding. */
  int kernelHeads;
  /** Query rows of one request that one kernel call handles: qLen * heads. */
  int rowsPerRequest;
  /** Bytes of one value of queries, new keys and partials, and of one on the wire. */
  int valueBytes;
  int wireBytes;
  /** Bytes of one token in a pool. */
  int cacheRowBytes;
  /** Rows that it is made of, as generate.h says: MLA one key, else a key and a value of each KV head. */
  int cacheParts;
  /** Query heads that share a key. */
  int groupHeads;
  /** Where each request's cells begin in a page table without gaps; [requests + 1]. */
  std::vector<int64_t> cellBegin;
  /** Columns of the longest request at the end of the run. */
  int64_t columns;
  /** Pages that one rank needs at the end of the run, and those of its pool. */
  int64_t pagesNeeded;
  int64_t poolPages;

  int64_t poolBytes(const Config& c) const { return poolPages * c.pageSize * cacheRowBytes; }
  int partBytes() const { return cacheRowBytes / cacheParts; }
  int64_t cells() const { return cellBegin.back(); }
};

/**
 * Whether the kernel keeps its lse in a layout, a type or with heads of its own, and not in the fp32 [T][H]
 * that everything behind it takes; and bytes of that tensor for a batch of `tokens`, else 0.
 */
bool keepsLseApart(const Config& config);
int64_t kernelLseBytes(const Config& config, const Shape& shape, int64_t tokens);

/** Value of one unit of an fp8 cache; 1 for the others, whose values stand for themselves. */
float kvScale(const Config& config);

/**
 * Page ids are 32-bit, and slots where keys are chosen one by one or a GPU looks for them: ERR_CONFIG for a
 * pool beyond that.
 */
void requireAddressablePool(const Config& config, const Shape& shape);

/** Requests of the batch itself, without those that pad it. */
inline int batchRequests(const Config& c) { return static_cast<int>(c.contextLens.size()) - c.padRequests; }

/** Global length of a request before the new tokens of traced step `step`; 0 for one that pads. */
inline int64_t contextAt(const Config& c, int request, int64_t step) {
  if (request >= batchRequests(c)) return 0;
  return c.contextLens[static_cast<size_t>(request)] + step * c.acceptedPerStep;
}

/** The same with them; one that pads has no new tokens. */
inline int64_t lengthAt(const Config& c, int request, int64_t step) {
  return request < batchRequests(c) ? contextAt(c, request, step) + c.qLen : c.padLength;
}

/** Global length at the end of the last step. */
inline int64_t lastLength(const Config& c, int request) { return lengthAt(c, request, c.steps - 1); }

}  // namespace dcpscope
