#pragma once
#if defined(__AVX512BF16__)
#include <immintrin.h>

#include "core/micro.h"

/** Scores straight from bf16 rows, two products a lane, summed in fp32. */
namespace dcpscope::DCPSCOPE_ISA {
namespace {

constexpr int kBf16Step = 32;

inline __m512bh loadBf16(const uint16_t* from, __mmask32 mask) {
  return bits<__m512bh>(_mm512_maskz_loadu_epi16(mask, from));
}

template <int R, int K>
inline void dotStep(vf (&acc)[R][K], const uint16_t* q, const uint16_t* keys, int stride, __mmask32 mask) {
  __m512bh key[K];
#pragma GCC unroll 8
  for (int k = 0; k < K; ++k) key[k] = loadBf16(keys + k * stride, mask);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    const __m512bh query = loadBf16(q + r * stride, mask);
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k)
      acc[r][k] = bits<vf>(_mm512_dpbf16_ps(bits<__m512>(acc[r][k]), query, key[k]));
  }
}

template <int R>
inline void dotKeysBf16(const DotTask<uint16_t>& task, int row, int first, int count, float* scores,
                        int scoreStride) {
  const uint16_t* q = task.q + row * task.stride;
  for (int k = first; k < first + count; k += kBlockKeys) {
    const uint16_t* keys = task.tile + k * task.stride;
    vf acc[R][kBlockKeys] = {};
    int d = 0;
    for (; d + kBf16Step <= task.n; d += kBf16Step) dotStep(acc, q + d, keys + d, task.stride, ~__mmask32{0});
    if (d < task.n) dotStep(acc, q + d, keys + d, task.stride, (__mmask32{1} << (task.n - d)) - 1);
    storeSums<vf, float, R, kBlockKeys>(acc, scores + row * scoreStride + k, scoreStride);
  }
}

inline void dotTileBf16(const DotTask<uint16_t>& task, float* scores, int scoreStride) {
  for (int first = 0; first < task.keys; first += kCachedKeys) {
    const int count = task.keys - first < kCachedKeys ? task.keys - first : kCachedKeys;
    int r = 0;
    for (; r + kBlockRows <= task.rows; r += kBlockRows)
      dotKeysBf16<kBlockRows>(task, r, first, count, scores, scoreStride);
    for (; r + 2 <= task.rows; r += 2) dotKeysBf16<2>(task, r, first, count, scores, scoreStride);
    for (; r < task.rows; ++r) dotKeysBf16<1>(task, r, first, count, scores, scoreStride);
  }
}

}  // namespace
}  // namespace dcpscope::DCPSCOPE_ISA
#endif
