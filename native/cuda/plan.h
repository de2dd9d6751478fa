#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/plan_place.h"

/** Deals out the tiles of keys of all requests over the multiprocessors, on the device. */
namespace dcpscope::cuda {

/** Device pointers of a plan. A part is what one block (of one block of rows) works on: the tiles from
 * begin[p] to before begin[p + 1]; parts without tiles are the last ones. */
struct PlanView {
  /** [parts + 1] */
  TilePlace* begin;
  /** First and last part that hold tiles of a request [requests]. */
  int32_t* firstPart;
  int32_t* lastPart;
  /** Working memory of the planner: cost before each request [requests + 1]. */
  int32_t* costBefore;
  int32_t parts;
  int32_t requests;
};

/** Bytes of device memory behind a view, and a view of such memory. */
int64_t planBytes(int requests, int parts);
PlanView planView(void* memory, int requests, int parts);

/** Enqueues the planner for `lengths` [requests] (device). */
void makePlan(const PlanView& plan, const int32_t* lengths, cudaStream_t stream);

}  // namespace dcpscope::cuda
