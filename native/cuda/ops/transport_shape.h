#pragma once
#include "core/error.h"
#include "cuda/ops/transport.h"

namespace dcpscope::cuda {

constexpr int kMaxValueDim = 512;
/** Groups of eight values of one row that a lane of a warp holds. */
constexpr int kEightsPerLane = 2;

/** Throws ERR_CONFIG for a shape that the kernels of the transports were not written for. */
inline void requireTransport(const TransportShape& s) {
  const auto rule = [](bool holds, const char* what) {
    if (!holds) throw EngineError(ErrorCode::config, what);
  };
  rule(s.ranks >= 1 && s.ranks <= kMaxRanks && s.heads % s.ranks == 0,
       "ranks: a transport takes 1 to 64 that divide the heads");
  rule(s.valueDim % 16 == 0 && s.valueDim <= kMaxValueDim,
       "kvLoraRank: a transport takes multiples of 16 up to 512");
}

}  // namespace dcpscope::cuda
