#include "cuda/check.h"
#include "cuda/plan.h"
#include "cuda/plan_walk.h"

namespace dcpscope::cuda {
namespace {

constexpr int kThreads = 1024;
/** Sum of `value` over the threads before this one; `total` gets the sum over all. */
__device__ int32_t sumBefore(int32_t value, int32_t* scratch, int32_t& total) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  int32_t sum = value;
  for (int step = 1; step < 32; step *= 2) {
    const int32_t other = __shfl_up_sync(~0U, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) scratch[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    int32_t warps = scratch[lane];
    for (int step = 1; step < 32; step *= 2) {
      const int32_t other = __shfl_up_sync(~0U, warps, step);
      if (lane >= step) warps += other;
    }
    scratch[lane] = warps;
  }
  __syncthreads();
  total = scratch[31];
  return sum - value + (warp > 0 ? scratch[warp - 1] : 0);
}

__global__ void __launch_bounds__(kThreads) planKernel(PlanView plan, const int32_t* lengths) {
  __shared__ int32_t scratch[32];
  __shared__ int32_t used;
  const int32_t each = (plan.requests + kThreads - 1) / kThreads;
  const int32_t first = min(static_cast<int32_t>(threadIdx.x) * each, plan.requests);
  const int32_t last = min(first + each, plan.requests);
  int32_t own = 0;
  for (int32_t r = first; r < last; ++r) own += tilesOf(lengths[r]) + kOverheadTiles;
  int32_t total = 0;
  int32_t before = sumBefore(own, scratch, total);
  for (int32_t r = first; r < last; ++r) {
    plan.costBefore[r] = before;
    before += tilesOf(lengths[r]) + kOverheadTiles;
  }
  if (threadIdx.x == 0) plan.costBefore[plan.requests] = total;
  __syncthreads();
  if (threadIdx.x < 32) {
    const Batch batch{plan.costBefore, plan.requests};
    const int32_t payload = leastPayload(total, plan.parts) + static_cast<int32_t>(threadIdx.x);
    const Walk tried = walk(batch, payload, plan.parts, nullptr);
    const int32_t score = tried.parts > plan.parts ? INT32_MAX : payload + tried.shared * kShareTiles;
    const int32_t best = __reduce_min_sync(~0U, score);
    const uint32_t candidates = __ballot_sync(~0U, score == best);
    if (static_cast<int>(threadIdx.x) == __ffs(candidates) - 1)
      used = walk(batch, payload, plan.parts, plan.begin).parts;
  }
  __syncthreads();
  for (int32_t p = used + static_cast<int32_t>(threadIdx.x); p <= plan.parts; p += kThreads)
    plan.begin[p] = {plan.requests, 0};
  __syncthreads();
  for (auto p = static_cast<int32_t>(threadIdx.x); p < used; p += kThreads) {
    const TilePlace begin = plan.begin[p];
    const TilePlace end = plan.begin[p + 1];
    const int32_t from = begin.tile == 0 ? begin.request : begin.request + 1;
    const int32_t to = end.tile == 0 ? end.request : end.request + 1;
    for (int32_t r = from; r < to; ++r) plan.firstPart[r] = p;
    for (int32_t r = begin.request; r < end.request; ++r) plan.lastPart[r] = p;
  }
}

int64_t rounded(int64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

int64_t planBytes(int requests, int parts) {
  return rounded((parts + 1) * static_cast<int64_t>(sizeof(TilePlace))) +
         3 * rounded((requests + 1) * int64_t{4});
}

PlanView planView(void* memory, int requests, int parts) {
  auto* at = static_cast<unsigned char*>(memory);
  PlanView view{};
  view.begin = reinterpret_cast<TilePlace*>(at);
  at += rounded((parts + 1) * static_cast<int64_t>(sizeof(TilePlace)));
  view.firstPart = reinterpret_cast<int32_t*>(at);
  at += rounded((requests + 1) * int64_t{4});
  view.lastPart = reinterpret_cast<int32_t*>(at);
  at += rounded((requests + 1) * int64_t{4});
  view.costBefore = reinterpret_cast<int32_t*>(at);
  view.parts = parts;
  view.requests = requests;
  return view;
}

void makePlan(const PlanView& plan, const int32_t* lengths, cudaStream_t stream) {
  planKernel<<<1, kThreads, 0, stream>>>(plan, lengths);
  launched("planning the attention");
}

}  // namespace dcpscope::cuda
