#pragma once
#include <cstdint>

#include "core/hash.h"

/**
 * Keys and queries as pure functions of (seed, layer, request, global position, head, dimension). A value is
 * the sum of four hashed bytes, centred and scaled to unit variance: no rounding mode, library or machine
 * changes a bit of it. With needles a request has three keys that share a direction (a vector of signs) with
 * all queries, so that they outweigh the rest of the context by several nats.
 */
namespace dcpscope {

constexpr int kNeedles = 3;
/** Share of the direction in a query. */
constexpr float kQueryAmplitude = 0.5F;

/** What fixes one row: its hash, and how much of the direction is added. */
struct RowSpec {
  uint64_t hash;
  uint64_t direction;
  float amplitude;
};

/** Data of one layer of one request. */
struct Source {
  uint64_t keys;
  uint64_t queries;
  uint64_t direction;
  int needles;  // 0 without needle data
  int64_t needleAt[kNeedles];
  float needleAmplitude[kNeedles];
};

/**
 * `contextLen` bounds where needles lie and how strong they must be; `keyDim` and `softmaxScale` turn nats
 * into an amplitude.
 */
static inline DCPSCOPE_HD Source makeSource(uint32_t seed, int layer, int request, bool needles,
                                            int64_t contextLen, int keyDim, double softmaxScale) {
  const auto l = static_cast<uint64_t>(layer);
  const auto r = static_cast<uint64_t>(request);
  Source source{streamHash(seed, Stream::key, l, r),
                streamHash(seed, Stream::query, l, r),
                streamHash(seed, Stream::direction, l, r),
                0,
                {},
                {}};
  if (!needles || contextLen < 1) return source;
  source.needles = kNeedles;
  int log2 = 0;
  while ((contextLen >> (log2 + 1)) > 0) ++log2;
  for (int i = 0; i < kNeedles; ++i) {
    const uint64_t h = mix64(streamHash(seed, Stream::needle, l, r) + static_cast<uint64_t>(i));
    source.needleAt[i] = static_cast<int64_t>((h >> 8) % static_cast<uint64_t>(contextLen));
    const double nats = exact::sum(exact::product(0.6931, log2), 4.0 + static_cast<double>(h & 255U) / 64.0);
    const double amplitude = nats / (softmaxScale * keyDim * static_cast<double>(kQueryAmplitude));
    source.needleAmplitude[i] = static_cast<float>(amplitude < 8.0 ? amplitude : 8.0);
  }
  return source;
}

static inline DCPSCOPE_HD RowSpec keyRow(const Source& source, int64_t position) {
  RowSpec spec{mix64(source.keys ^ static_cast<uint64_t>(position)), source.direction, 0.0F};
  for (int i = 0; i < source.needles; ++i)
    if (source.needleAt[i] == position) spec.amplitude = source.needleAmplitude[i];
  return spec;
}

/** Rows of a token in a cache: with MLA (`kvHeads` 0) one, else a key and a value of each KV head. */
static inline DCPSCOPE_HD constexpr int cachedRows(int kvHeads) { return kvHeads > 0 ? 2 * kvHeads : 1; }

/**
 * Row `part` of what a cache keeps of a token: with MLA (`kvHeads` 0) its key, else the keys of all KV heads
 * and behind them their values, in which no needle shows.
 */
static inline DCPSCOPE_HD RowSpec cachedRow(const Source& source, int64_t position, int part, int kvHeads) {
  RowSpec spec = keyRow(source, position);
  if (part > 0) spec.hash = mix64(spec.hash + static_cast<uint64_t>(part));
  if (kvHeads > 0 && part >= kvHeads) spec.amplitude = 0;
  return spec;
}

static inline DCPSCOPE_HD RowSpec queryRow(const Source& source, int64_t position, int head) {
  const uint64_t where = (static_cast<uint64_t>(position) << 8) | static_cast<uint64_t>(head);
  return RowSpec{mix64(source.queries ^ where), source.direction,
                 source.needles > 0 ? kQueryAmplitude : 0.0F};
}

/** Hash of one value of a row; `hash` is the row's, `d` the dimension. */
static inline DCPSCOPE_HD uint32_t valueHash(uint64_t hash, int d) {
  const auto lo = static_cast<uint32_t>(hash);
  const auto hi = static_cast<uint32_t>(hash >> 32);
  uint32_t x = (static_cast<uint32_t>(d) * 0x9e3779b1U) ^ lo;
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= (x >> 15) ^ hi;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

/** Value d of a row: what generate.cpp computes a vector at a time. */
static inline DCPSCOPE_HD float generatedValue(const RowSpec& spec, int d) {
  const uint32_t h = valueHash(spec.hash, d);
  const uint32_t pairs = (h & 0x00ff00ffU) + ((h >> 8) & 0x00ff00ffU);
  const auto total = static_cast<int32_t>((pairs + (pairs >> 16)) & 0xffffU) - 510;
  const float value = exact::product(static_cast<float>(total), 0.00676587F);
  if (spec.amplitude == 0.0F) return value;
  const uint32_t sign = valueHash(spec.direction, d) & 0x80000000U;
  return exact::sum(value, __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, spec.amplitude) ^ sign));
}

/** Writers of `n` values (a multiple of 16): as float, rounded to bf16, and the bf16 values widened again. */
struct GenerateKernels {
  void (*fp32)(const RowSpec& spec, int n, float* out);
  void (*bf16)(const RowSpec& spec, int n, uint16_t* out);
};

}  // namespace dcpscope
