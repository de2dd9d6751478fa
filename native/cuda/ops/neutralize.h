#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/lse_layout.h"
#include "cuda/ops/token_stats.h"
#include "cuda/stamp.h"

namespace dcpscope::cuda {

/** Tokens whose statistics `neutralize` takes. */
enum class StatsOf {
  none,
  /** Those whose rows it clears: attention has taken those of all others. */
  tokensWithoutKeys,
  /** Where attention takes none. */
  allTokens,
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
  StatsOf statsOf;
  /** [tokens], to which it adds; unused for StatsOf::none. Rows without statistics are not read. */
  StatsRecord* stats;
};

void neutralize(const NeutralizeTask& task, cudaStream_t stream, Stamps stamps);

/** The same where the kernel keeps its lse apart: first brings it to `task.lse`, trimmed, as `reading` says.
 */
void neutralize(const NeutralizeTask& task, const KernelLse& kernel, LseReading reading, cudaStream_t stream,
                Stamps stamps);

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
