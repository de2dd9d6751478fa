#pragma once
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdint>

#include "cuda/stamp.h"

namespace dcpscope::cuda {

/** What some heads of one token hold, as the kernel left them: before rows without keys are made neutral. */
struct TokenStats {
  int32_t outNan;
  int32_t outInf;
  /** Largest finite magnitude. */
  float outAbsmax;
  int32_t lseNan;
  /** NaN when every lse is NaN. */
  float lseMin;
  float lseMax;
};

/** A rank's partial: out [tokens][heads][valueDim], lse [tokens][heads]. valueDim is a multiple of 16. */
struct NeutralizeTask {
  int tokens;
  int heads;
  int valueDim;
  bool outFp32;
  void* out;
  float* lse;
  /** Keys that each token sees on this rank [tokens]: rows with none become (0, -inf), whatever they held. */
  const int32_t* bounds;
  /** [tokens][neutralizeParts()], or null: then rows with keys are not touched at all. */
  TokenStats* stats;
};

/** Records of statistics that a token gets: one for each share of its heads. */
int neutralizeParts(int heads, int valueDim, bool outFp32);

void neutralize(const NeutralizeTask& task, cudaStream_t stream, Stamp* stamps);

/** The records of one token as one. */
inline TokenStats foldStats(const TokenStats* parts, int count) {
  TokenStats all = parts[0];
  for (int i = 1; i < count; ++i) {
    all.outNan += parts[i].outNan;
    all.outInf += parts[i].outInf;
    all.outAbsmax = std::fmax(all.outAbsmax, parts[i].outAbsmax);
    all.lseNan += parts[i].lseNan;
    all.lseMin = std::fmin(all.lseMin, parts[i].lseMin);
    all.lseMax = std::fmax(all.lseMax, parts[i].lseMax);
  }
  return all;
}

/** NaN in the merged output of one token. */
struct NanCount {
  int32_t count;
  /** Index of the first within the token's [heads][valueDim], -1 for none. */
  int32_t first;
};

/** Counts NaN in `values` [tokens][perToken], fp32 or bf16; perToken is a multiple of 16. Writes found
 * [tokens]. */
void countNan(const void* values, bool fp32, int tokens, int perToken, NanCount* found, cudaStream_t stream);

}  // namespace dcpscope::cuda
