#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/config.h"
#include "core/generate.h"
#include "cuda/stamp.h"

/** Writing keys into a rank's pool: context before the first step, new tokens in each step. */
namespace dcpscope::cuda {

/** Which tokens a rank stores and where; tokens everywhere. */
struct Ownership {
  int rank;
  int ranks;
  int interleave;
  int pageSize;
};

/** How the pool keeps one token. */
struct CacheFormat {
  /** bf16, fp8 or fp8DsMla. */
  KvType type;
  int keyDim;
  /** Bytes of a token: Shape::cacheRowBytes. */
  int rowBytes;
  /** Value of one unit of an fp8 cache; 1 for the others. */
  float scale;
  /** 0: MLA. A token is made of cachedRows(kvHeads) rows. */
  int kvHeads = 0;
};

/** Context tokens first .. last - 1 (global positions) of one request in one layer; they are its prompt,
 * which every deal deals out alike. */
struct FillTask {
  Ownership own;
  CacheFormat format;
  Source source;
  int64_t first;
  int64_t last;
  /** Page ids of the request by column. */
  const int32_t* pages;
  /** The layer's pool [poolPages][pageSize][rowBytes]. */
  void* pool;
};

/** Writes the tokens that the rank owns; every other byte of the pool keeps what it held. */
void fill(const FillTask& task, cudaStream_t stream);

struct AppendTask {
  CacheFormat format;
  int tokens;
  /** Rows of the new tokens, bf16 [tokens][cachedRows(kvHeads)][keyDim]. */
  const void* keys;
  /** Slot of each new token [tokens], -1 where another rank stores it. */
  const int64_t* slots;
  void* pool;
};

/** Quantises the new tokens that the rank owns into their slots. */
void append(const AppendTask& task, cudaStream_t stream, Stamps stamps);

/** The same token by token, for slots that several tokens share: the last one's key is what stays. */
void appendInOrder(const AppendTask& task, cudaStream_t stream, Stamps stamps);

}  // namespace dcpscope::cuda
