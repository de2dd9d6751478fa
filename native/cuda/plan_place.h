#pragma once
#include <cstdint>

#include "core/device_code.h"

namespace dcpscope::cuda {

/** Keys of one tile. */
constexpr int kPlanTile = 64;

/** A place in the order of all tiles: request by request. */
struct TilePlace {
  int32_t request;
  int32_t tile;
};

/** Tiles of a request: at least one, so that somebody writes its rows. */
DCPSCOPE_HD constexpr int32_t tilesOf(int32_t length) {
  return length <= kPlanTile ? 1 : (length - 1) / kPlanTile + 1;
}

}  // namespace dcpscope::cuda
