#pragma once
#include "core/device_code.h"
#include "cuda/plan_place.h"

/** The arithmetic of the planner: how a batch falls into parts of one payload. Costs are in tiles. */
namespace dcpscope::cuda {

/** What a request costs besides its tiles, in tiles: queries in, partials out. */
constexpr int kOverheadTiles = 3;
/** What it costs a part to share a request with others, in tiles. */
constexpr int kShareTiles = 2;
/** Tiles of a part at least. */
constexpr int kLeastTiles = 1;

/** The planner's view of the batch: costs in tiles, a request's overhead included. */
struct Batch {
  const int32_t* costBefore;
  int32_t requests;

  DCPSCOPE_HD int32_t tiles(int32_t request) const {
    return costBefore[request + 1] - costBefore[request] - kOverheadTiles;
  }
};

/** The last request, from `first` on, before which requests from `first` on cost at most `room`. */
static inline DCPSCOPE_HD int32_t furthest(const Batch& batch, int32_t first, int32_t room) {
  const int64_t most = static_cast<int64_t>(batch.costBefore[first]) + room;
  int32_t step = 1;
  while (first + step <= batch.requests && batch.costBefore[first + step] <= most) step *= 2;
  int32_t low = first + step / 2;
  int32_t high = first + step < batch.requests + 1 ? first + step : batch.requests + 1;
  while (high - low > 1) {
    const int32_t middle = (low + high) / 2;
    (batch.costBefore[middle] <= most ? low : high) = middle;
  }
  return low;
}

/** A place, and the tiles of its request from there on. */
struct Cursor {
  TilePlace at;
  int32_t rest;
};

/** Moves past a part that may cost `payload`: it takes whole requests, and cuts one only for a piece that is
 * worth its overhead. */
static inline DCPSCOPE_HD void takePart(const Batch& batch, Cursor& cursor, int32_t payload) {
  int32_t room = payload - kOverheadTiles;
  if (cursor.rest > room) {
    cursor.at.tile += room;
    cursor.rest -= room;
    return;
  }
  room -= cursor.rest;
  const int32_t first = cursor.at.request + 1;
  const int32_t next = furthest(batch, first, room);
  room -= batch.costBefore[next] - batch.costBefore[first] + kOverheadTiles;
  const int32_t piece = next == batch.requests || room < kOverheadTiles ? 0 : room;
  cursor.at = {next, piece};
  cursor.rest = next == batch.requests ? 0 : batch.tiles(next) - piece;
}

struct Walk {
  /** Parts that the batch takes, and the most requests that one of them shares with others. */
  int32_t parts;
  int32_t shared;
};

/** Deals out the batch in parts of one payload; gives up behind `most`. With `begin` it writes where they
 * begin. */
static inline DCPSCOPE_HD Walk walk(const Batch& batch, int32_t payload, int32_t most, TilePlace* begin) {
  Cursor cursor{{0, 0}, batch.tiles(0)};
  Walk result{0, 0};
  for (; cursor.at.request < batch.requests && result.parts <= most; ++result.parts) {
    const TilePlace from = cursor.at;
    if (begin != nullptr) begin[result.parts] = from;
    takePart(batch, cursor, payload);
    const bool cut = cursor.at.tile > 0;
    const bool continues = from.tile > 0;
    const int32_t shared = cut && continues && cursor.at.request != from.request ? 2
                           : cut || continues                                    ? 1
                                                                                 : 0;
    result.shared = shared > result.shared ? shared : result.shared;
  }
  return result;
}

/** The first payload that is worth trying for `parts` parts. One of the kPayloads from there on fits: a part
 * falls short of its payload by less than three overheads. */
constexpr int32_t kPayloads = 32;
static inline DCPSCOPE_HD int32_t leastPayload(int32_t total, int32_t parts) {
  const int32_t even = (total + parts - 1) / parts;
  const int32_t least = kOverheadTiles + kLeastTiles;
  return even > least ? even : least;
}

}  // namespace dcpscope::cuda
