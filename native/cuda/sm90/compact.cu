#include "cuda/check.h"
#include "cuda/sm90/compact.h"

namespace dcpscope::cuda {
namespace {

constexpr int kWarps = 8;

/** A warp for each token. */
__global__ void __launch_bounds__(32 * kWarps)
    compactKernel(const int32_t* from, int64_t tokens, int topk, int32_t* to, int32_t* counts) {
  const int64_t token = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (token >= tokens) return;
  const int lane = threadIdx.x % 32;
  const int32_t* in = from + token * topk;
  int32_t* out = to + token * topk;
  int32_t count = 0;
  for (int first = 0; first < topk; first += 32) {
    const int32_t slot = first + lane < topk ? in[first + lane] : -1;
    const uint32_t some = __ballot_sync(~0U, slot >= 0);
    if (slot >= 0) out[count + __popc(some & ((1U << lane) - 1))] = slot;
    count += __popc(some);
  }
  if (lane == 0) counts[token] = count;
}

}  // namespace

void compactSlots(const int32_t* from, int64_t tokens, int topk, int32_t* to, int32_t* counts,
                  cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((tokens + kWarps - 1) / kWarps);
  compactKernel<<<blocks, 32 * kWarps, 0, stream>>>(from, tokens, topk, to, counts);
  launched("compacting the slots of sparse attention");
}

}  // namespace dcpscope::cuda
