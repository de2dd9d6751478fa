#pragma once
#include <cstdint>
#include <vector>

#include "core/group.h"

/** How much a run takes apart from its group. The prediction and the allocation share it. */
namespace dcpscope {

constexpr int64_t kStepRows = 8192;
constexpr int64_t kEventRows = 8192;
/** Spans that a rank records in one step at most, without the stall before it. */
int64_t spansPerStep(const Config& config);

/** Events of one step at most: kinds that are summed up, empty shards of each rank, captures of each layer.
 */
int64_t eventsPerStep(const Config& config);

/** Kernels, copies and fills of a rank in one recorded step at most. */
int64_t kernelsPerStep(const Config& config);

/** Rows of one rank's rings: room for some thousand rows, and always for one step. */
RingSizes ringSizes(const Config& config);

/** What a run of a valid configuration would allocate on `device` and beside it, by purpose. Where ranks have
 * processes of their own, memory of the host is that of all of them, memory of a GPU what one of them takes.
 */
std::vector<MemoryComponent> predictMemory(const Config& config, const Device& device);

}  // namespace dcpscope
