#pragma once
#include <cstdint>

#include "core/quantise.h"
#include "cuda/ops/cache.h"
#include "cuda/ops/launch.h"

/**
 * One warp writes one row of a cache, the bytes that core/quantise.h makes. `values(d)` gives the bf16 values
 * d .. d + 3 in two words; d is a multiple of four.
 */
namespace dcpscope::cuda {

__device__ inline uint16_t valueOf(uint2 four, int i) {
  return static_cast<uint16_t>((i < 2 ? four.x : four.y) >> (16 * (i & 1)));
}

__device__ inline uint32_t codesOf(uint2 four, float scale) {
  uint32_t codes = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    codes |= static_cast<uint32_t>(toE4m3(exact::quotient(fromBf16(valueOf(four, i)), scale))) << (8 * i);
  return codes;
}

template <class Values>
__device__ inline void writeBf16(const Values& values, int n, uint8_t* row, int lane) {
  for (int d = lane * 4; d < n; d += kWarp * 4) *reinterpret_cast<uint2*>(row + d * 2) = values(d);
}

template <class Values>
__device__ inline void writeFp8(const Values& values, int n, float scale, uint8_t* row, int lane) {
  for (int d = lane * 4; d < n; d += kWarp * 4)
    *reinterpret_cast<uint32_t*>(row + d) = codesOf(values(d), scale);
}

template <class Values>
__device__ inline void writeDsMla(const Values& values, uint8_t* row, int lane) {
  static_assert(dsmla::kGroup == kWarp * 4);
#pragma unroll
  for (int g = 0; g < dsmla::kGroups; ++g) {
    const uint2 four = values(g * dsmla::kGroup + lane * 4);
    unsigned most = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) most = max(most, valueOf(four, i) & 0x7fffU);
    most = __reduce_max_sync(0xffffffffU, most);
    const float scale = dsmla::scaleOf(fromBf16(static_cast<uint16_t>(most)));
    *reinterpret_cast<uint32_t*>(row + g * dsmla::kGroup + lane * 4) = codesOf(four, scale);
    if (lane == 0) *reinterpret_cast<float*>(row + dsmla::kScalesAt + g * 4) = scale;
  }
  if (lane < dsmla::kRope / 4)
    *reinterpret_cast<uint2*>(row + dsmla::kRopeAt + lane * 8) = values(dsmla::kLatent + lane * 4);
}

template <class Values>
__device__ inline void writeRow(const CacheFormat& format, const Values& values, uint8_t* row, int lane) {
  if (format.type == KvType::fp8DsMla)
    writeDsMla(values, row, lane);
  else if (format.type == KvType::fp8)
    writeFp8(values, format.keyDim, format.scale, row, lane);
  else
    writeBf16(values, format.keyDim, row, lane);
}

/** The same for all rows of a token: `rowOf(part)` gives the values of one. */
template <class RowOf>
__device__ inline void writeToken(const CacheFormat& format, const RowOf& rowOf, uint8_t* token, int lane) {
  const int parts = cachedRows(format.kvHeads);
  const int bytes = format.rowBytes / parts;
  for (int part = 0; part < parts; ++part) writeRow(format, rowOf(part), token + part * bytes, lane);
}

}  // namespace dcpscope::cuda
