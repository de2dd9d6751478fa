#pragma once
#include <cstdint>

#include "core/config.h"
#include "cpu/rank.h"

/** How much of everything a run takes: threads, ring rows, bytes. The prediction and the allocation share it.
 */
namespace dcpscope {

constexpr int64_t kStepRows = 8192;
constexpr int64_t kEventRows = 8192;
/** Events of one step at most: kinds that are summed up, empty shards of each rank, captures of each layer.
 */
constexpr int64_t kEventsPerStep = 8 + 64 + 2 * 64;

/** Threads of a run: one a rank at least, and all cores. */
int poolThreads(const Config& config);

/** Threads that work on a rank's attention. */
int teamOf(int rank, int ranks, int threads);

/** Rows of one rank's rings: room for some thousand rows, and always for one step. */
RingSizes ringSizes(const Config& config, const Shape& shape);

}  // namespace dcpscope
