#pragma once
#include "cuda/attention.h"

/** Decode attention in fp64 by the plainest kernel: what the fast ones are compared with. */
namespace dcpscope::cuda {

/**
 * Writes [T][H][V] and [T][H] doubles to device memory; the log-sum-exp is in the base that `inputs` asks
 * for. Cached values are taken as the contract of their format dequantises them. Rows without keys give (0,
 * -inf), whatever `inputs.emptyRow` says, and rows that see a NaN give NaN; `inputs.out`, `inputs.lse` and
 * the stamps are not used.
 *
 * Takes memory of its own and waits for the result. At most 512 value columns; ERR_CONFIG for fp32 caches.
 */
void referenceAttention(const AttentionShape& shape, const AttentionInputs& inputs, double* out, double* lse,
                        cudaStream_t stream);

}  // namespace dcpscope::cuda
