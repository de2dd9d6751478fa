#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

/**
 * Portable vectors on the compiler's vector extension, as wide as the instruction set that this file is
 * compiled for. Everything has internal linkage: the same names exist once per instruction set.
 */
#ifndef DCPSCOPE_ISA
#error "vector sources are compiled once per instruction set, with DCPSCOPE_ISA"
#endif

#if defined(__AVX512F__)
#define DCPSCOPE_LANES 16
#elif defined(__AVX2__)
#define DCPSCOPE_LANES 8
#else
#define DCPSCOPE_LANES 4
#endif

namespace dcpscope::DCPSCOPE_ISA {
namespace {

/** Floats of one vector; a vector of doubles has half as many. */
constexpr int kLanes = DCPSCOPE_LANES;

typedef float vf __attribute__((vector_size(DCPSCOPE_LANES * 4)));
typedef int32_t vi __attribute__((vector_size(DCPSCOPE_LANES * 4)));
typedef uint32_t vu __attribute__((vector_size(DCPSCOPE_LANES * 4)));
typedef uint16_t vh __attribute__((vector_size(DCPSCOPE_LANES * 2)));
typedef double vd __attribute__((vector_size(DCPSCOPE_LANES * 4)));
typedef int64_t vl __attribute__((vector_size(DCPSCOPE_LANES * 4)));
typedef float vfHalf __attribute__((vector_size(DCPSCOPE_LANES * 2)));

template <class V, class T>
inline V load(const T* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof(V));
  return value;
}

template <class V, class T>
inline void store(T* to, V value) {
  __builtin_memcpy(to, &value, sizeof(V));
}

template <class To, class From>
inline To bits(From value) {
  return __builtin_bit_cast(To, value);
}

template <class V, class T>
inline V splat(T value) {
  return value - V{};
}

template <class V>
inline V maximum(V a, V b) {
  return a > b ? a : b;
}

inline vf widen(vh value) { return bits<vf>(__builtin_convertvector(value, vu) << 16); }

/** Round to nearest even; NaN stays NaN. */
inline vh narrow(vf value) {
  const vu raw = bits<vu>(value);
  const vu rounded = (raw + 0x7fffU + ((raw >> 16) & 1U)) >> 16;
  const vu quiet = (raw >> 16) | 0x40U;
  const vu result = (raw & 0x7fffffffU) > 0x7f800000U ? quiet : rounded;
  return __builtin_convertvector(result, vh);
}

/** One vector of a row that holds float or bf16 bits. */
inline vf loadFloat(const float* from) { return load<vf>(from); }
inline vf loadFloat(const uint16_t* from) { return widen(load<vh>(from)); }
inline void storeFloat(float* to, vf value) { store(to, value); }
inline void storeFloat(uint16_t* to, vf value) { store(to, narrow(value)); }

template <class V>
constexpr int lanesOf = static_cast<int>(sizeof(V) / sizeof(V{}[0]));

/** Lane of (x, y) that lane `j` of a fold takes: groups of G lanes, first those of x, then those of y. */
constexpr int foldLane(int lanes, int G, int j, int half) {
  const int within = j % (lanes / 2);
  return (j / (lanes / 2)) * lanes + within / (G / 2) * G + within % (G / 2) + half * (G / 2);
}

/** Adds the halves of each group of G lanes of x and y; the groups of x come first. */
template <int G, class V, int... J>
inline V fold(V x, V y, std::integer_sequence<int, J...>) {
  constexpr int n = lanesOf<V>;
  return __builtin_shufflevector(x, y, foldLane(n, G, J, 0)...) +
         __builtin_shufflevector(x, y, foldLane(n, G, J, 1)...);
}

/** Sums of as many vectors as a vector has lanes: lane i of the result is the sum of v[i]. Overwrites v. */
template <int G, class V>
inline V sums(V* v) {
  constexpr int n = lanesOf<V>;
#pragma GCC unroll 16
  for (int i = 0; i < G / 2; ++i)
    v[i] = fold<G>(v[2 * i], v[2 * i + 1], std::make_integer_sequence<int, n>{});
  if constexpr (G > 2) return sums<G / 2>(v);
  return v[0];
}

template <class V>
inline auto sum(V value) {
  constexpr int n = lanesOf<V>;
  auto total = value[0];
  for (int i = 1; i < n; ++i) total += value[i];
  return total;
}

template <class V>
inline auto largest(V value) {
  constexpr int n = sizeof(V) / sizeof(value[0]);
  auto most = value[0];
  for (int i = 1; i < n; ++i) most = value[i] > most ? value[i] : most;
  return most;
}

/** `value`, but 0 from `low` down and NaN where x is. */
template <class V>
inline V keepLimits(V x, V low, V value) {
  return x > low ? value : x == x ? V{} : x;
}

/** 2^x for x <= 0, relative error below 2e-7; exactly 0 from -125 down, so also for -inf; NaN for NaN. */
inline vf exp2Negative(vf x) {
  const vf low = splat<vf>(-125.0F);
  const vf clamped = maximum(x, low);
  const vf magic = splat<vf>(12582912.0F);
  const vf shifted = clamped + magic;
  const vi whole = bits<vi>(shifted) - bits<vi>(magic);
  const vf f = clamped - (shifted - magic);
  vf p = splat<vf>(1.52527338e-5F);
  p = p * f + 1.54035304e-4F;
  p = p * f + 1.33335581e-3F;
  p = p * f + 9.61812911e-3F;
  p = p * f + 5.55041087e-2F;
  p = p * f + 2.40226507e-1F;
  p = p * f + 6.93147181e-1F;
  p = p * f + 1.0F;
  const vf value = bits<vf>(bits<vi>(p) + (whole << 23));
  return keepLimits(x, low, value);
}

/** 2^x for x <= 0 in double, relative error below 1e-15; exactly 0 from -1000 down; NaN for NaN. */
inline vd exp2Negative(vd x) {
  const vd low = splat<vd>(-1000.0);
  const vd clamped = maximum(x, low);
  const vd magic = splat<vd>(6755399441055744.0);
  const vd shifted = clamped + magic;
  const vl whole = bits<vl>(shifted) - bits<vl>(magic);
  const vd f = (clamped - (shifted - magic)) * 0.693147180559945309417;
  vd p = splat<vd>(1.0 / 6227020800.0);
  p = p * f + 1.0 / 479001600.0;
  p = p * f + 1.0 / 39916800.0;
  p = p * f + 1.0 / 3628800.0;
  p = p * f + 1.0 / 362880.0;
  p = p * f + 1.0 / 40320.0;
  p = p * f + 1.0 / 5040.0;
  p = p * f + 1.0 / 720.0;
  p = p * f + 1.0 / 120.0;
  p = p * f + 1.0 / 24.0;
  p = p * f + 1.0 / 6.0;
  p = p * f + 0.5;
  p = p * f + 1.0;
  p = p * f + 1.0;
  const vd value = bits<vd>(bits<vl>(p) + (whole << 52));
  return keepLimits(x, low, value);
}

}  // namespace
}  // namespace dcpscope::DCPSCOPE_ISA
