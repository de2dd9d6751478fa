#include "cuda/run/costs.h"

#include "core/deal.h"

namespace dcpscope::cuda {
namespace {

int64_t pageTableBytes(const RunState& state, int layer) {
  int64_t columns = 0;
  for (int r = 0; r < state.shape.requests; ++r) columns += state.pagesOf(layer).columns(r);
  return columns * 4;
}

int64_t ownedTokens(const RunState& state, int rank) {
  const Config& c = state.config;
  int64_t owned = 0;
  for (int r = 0; r < batchRequests(c); ++r)
    for (int64_t t = state.frame.before[r]; t < state.frame.after[r]; ++t)
      owned += dealOf(c, r).owner(t) == rank ? 1 : 0;
  return owned;
}

/** Query tokens whose rows are written because they see no key, or read for statistics. */
int64_t neutralizedTokens(const RunState& state, const SeenKeys& seen, bool readsAll) {
  int64_t tokens = 0;
  for (int t = 0; t < state.shape.tokens; ++t) tokens += readsAll || seen.bounds[t] == 0 ? 1 : 0;
  return tokens;
}

Cost attention(const RunState& state, const SeenKeys& seen) {
  const Config& c = state.config;
  const Shape& s = state.shape;
  int64_t keys = 0;
  int64_t read = 0;
  for (int t = 0; t < s.tokens; ++t) keys += seen.bounds[t];
  for (int r = 0; r < s.requests; ++r) read += seen.lengths[r];
  return {(c.topk > 0 ? keys : read) * s.cacheRowBytes,
          2 * static_cast<int64_t>(c.heads) * (s.keyDim + s.valueDim) * keys};
}

}  // namespace

Cost costOf(const RunState& state, const Work& work, const SeenKeys& seen, bool neutralizeReads) {
  const Config& c = state.config;
  const Shape& s = state.shape;
  const int64_t others = c.ranks - 1;
  const int64_t T = s.tokens;
  const int64_t rows = T * c.heads;
  const int64_t ownRows = T * s.headsPerRank;
  const int64_t message = static_cast<int64_t>(s.valueDim) * s.wireBytes + 4;
  switch (work.stage) {
    case Stage::metadata:
      return {work.refreshes ? pageTableBytes(state, work.layer) : T * c.topk * 8, 0};
    case Stage::qAllGather:
      return {ownRows * s.keyDim * s.valueBytes * others, 0};
    case Stage::kvAppend:
      return {ownedTokens(state, work.rank) * s.cacheRowBytes, 0};
    case Stage::decodeAttn:
      return attention(state, seen);
    case Stage::neutralize:
      return {neutralizedTokens(state, seen, neutralizeReads) * c.heads *
                      (static_cast<int64_t>(s.valueDim) * s.valueBytes + 4) +
                  (keepsLseApart(c) ? rows * (c.lseBf16 ? 2 : 4) : 0),
              0};
    case Stage::lseAllGather:
      return {rows * 4 * others, 0};
    case Stage::lseCorrect:
      return {rows * s.valueDim * s.valueBytes, rows * s.valueDim};
    case Stage::outReduceScatter:
      return {ownRows * s.valueDim * s.wireBytes * others, 0};
    case Stage::outAllToAll:
      return {ownRows * message * others, 0};
    case Stage::merge:
      if (c.comm == Comm::p2p)
        return {ownRows * (static_cast<int64_t>(s.valueDim) * s.valueBytes + 4) * others,
                2 * ownRows * c.ranks * s.valueDim};
      return {ownRows * c.ranks * message, 2 * ownRows * c.ranks * s.valueDim};
    case Stage::restOfLayer:
      return {c.restOfLayerBytes, c.restOfLayerFlops};
    default:
      return {};
  }
}

}  // namespace dcpscope::cuda
