#pragma once
#include "core/simd.h"

/**
 * Register-blocked inner products that kernel and reference share. V is a vector type, T its element; row
 * pointers are contiguous rows of `stride` elements; lengths are multiples of the vector.
 */
namespace dcpscope::DCPSCOPE_ISA {
namespace {

/** Query rows and keys of one block of scores, query rows and value vectors of one block of outputs. */
constexpr int kBlockRows = 4;
constexpr int kBlockKeys = DCPSCOPE_LANES == 16 ? 4 : 2;
/** Keys that stay in the first-level cache beside a block of rows. */
constexpr int kCachedKeys = 8;
constexpr int kBlockVectors = DCPSCOPE_LANES == 16 ? 4 : 2;

/** scores[r][k] = sum of the lanes of acc[r][k], as many at a time as a vector has lanes. */
template <class V, class T, int R, int K>
inline void storeSums(const V (&acc)[R][K], T* scores, int scoreStride) {
  constexpr int n = lanesOf<V>;
#pragma GCC unroll 16
  for (int first = 0; first < R * K; first += n) {
    V some[n] = {};
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i)
      if (first + i < R * K) some[i] = acc[(first + i) / K][(first + i) % K];
    const V total = sums<n>(some);
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i)
      if (first + i < R * K) scores[(first + i) / K * scoreStride + (first + i) % K] = total[i];
  }
}

/** scores[r][k] = q_r . key_k over n elements, for R rows and K keys. */
template <class V, class T, int R, int K>
inline void dotBlock(const T* q, const T* keys, int stride, int n, T* scores, int scoreStride) {
  constexpr int width = sizeof(V) / sizeof(T);
  V acc[R][K] = {};
  for (int d = 0; d < n; d += width) {
    V key[K];
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k) key[k] = load<V>(keys + k * stride + d);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const V query = load<V>(q + r * stride + d);
#pragma GCC unroll 8
      for (int k = 0; k < K; ++k) acc[r][k] += query * key[k];
    }
  }
  storeSums<V, T, R, K>(acc, scores, scoreStride);
}

/** Scores of R rows and some keys. */
template <class V, class T, int R>
inline void dotKeys(const T* q, const T* tile, int keys, int stride, T* scores, int scoreStride) {
  for (int k = 0; k < keys; k += kBlockKeys)
    dotBlock<V, T, R, kBlockKeys>(q, tile + k * stride, stride, stride, scores + k, scoreStride);
}

/**
 * Scores of `rows` rows and `keys` keys; `keys` is a multiple of kBlockKeys. Few keys at a time stay in the
 * first-level cache while the rows pass by.
 */
template <class V, class T>
inline void dotTile(const T* q, int rows, const T* tile, int keys, int stride, T* scores, int scoreStride) {
  for (int first = 0; first < keys; first += kCachedKeys) {
    const int count = keys - first < kCachedKeys ? keys - first : kCachedKeys;
    const T* key = tile + first * stride;
    T* to = scores + first;
    int r = 0;
    for (; r + kBlockRows <= rows; r += kBlockRows)
      dotKeys<V, T, kBlockRows>(q + r * stride, key, count, stride, to + r * scoreStride, scoreStride);
    for (; r < rows; ++r)
      dotKeys<V, T, 1>(q + r * stride, key, count, stride, to + r * scoreStride, scoreStride);
  }
}

/** out[r][0 .. C vectors) += sum over keys of p[r][k] * tile[k][..]; the sum of the tile is rounded on its
 * own. */
template <class V, class T, int R, int C>
inline void accumulateBlock(const T* p, int pStride, const T* tile, int keys, int stride, T* out,
                            int outStride) {
  constexpr int width = sizeof(V) / sizeof(T);
  V acc[R][C] = {};
  for (int k = 0; k < keys; ++k) {
    V value[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) value[c] = load<V>(tile + k * stride + c * width);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const V weight = splat<V>(p[r * pStride + k]);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) acc[r][c] += weight * value[c];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      T* to = out + r * outStride + c * width;
      store(to, load<V>(to) + acc[r][c]);
    }
}

/** out[rows][n] += p[rows][keys] * tile[keys][n]; n is a multiple of 16. */
template <class V, class T>
inline void accumulateTile(const T* p, int rows, int pStride, const T* tile, int keys, int stride, T* out,
                           int n) {
  constexpr int width = sizeof(V) / sizeof(T);
  constexpr int step = width * kBlockVectors;
  int v = 0;
  for (; v + step <= n; v += step) {
    int r = 0;
    for (; r + kBlockRows <= rows; r += kBlockRows)
      accumulateBlock<V, T, kBlockRows, kBlockVectors>(p + r * pStride, pStride, tile + v, keys, stride,
                                                       out + r * n + v, n);
    for (; r < rows; ++r)
      accumulateBlock<V, T, 1, kBlockVectors>(p + r * pStride, pStride, tile + v, keys, stride,
                                              out + r * n + v, n);
  }
  for (; v < n; v += width) {
    int r = 0;
    for (; r + kBlockRows <= rows; r += kBlockRows)
      accumulateBlock<V, T, kBlockRows, 1>(p + r * pStride, pStride, tile + v, keys, stride, out + r * n + v,
                                           n);
    for (; r < rows; ++r)
      accumulateBlock<V, T, 1, 1>(p + r * pStride, pStride, tile + v, keys, stride, out + r * n + v, n);
  }
}

}  // namespace
}  // namespace dcpscope::DCPSCOPE_ISA
