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

/** Elements between rows of a tile of n: an odd number of cache lines, so that rows do not share cache sets.
 */
template <class T>
constexpr int spreadStride(int n) {
  constexpr int line = 64 / sizeof(T);
  return ((n + line - 1) / line | 1) * line;
}

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

/** Rows and keys of which scores are wanted: rows of `n` elements that lie `stride` apart. */
template <class T>
struct DotTask {
  const T* q;
  int rows;
  const T* tile;
  int keys;
  int stride;
  int n;
};

/** Scores of R rows and some keys. */
template <class V, class T, int R>
inline void dotKeys(const DotTask<T>& task, int row, int first, int count, T* scores, int scoreStride) {
  const T* q = task.q + row * task.stride;
  for (int k = first; k < first + count; k += kBlockKeys)
    dotBlock<V, T, R, kBlockKeys>(q, task.tile + k * task.stride, task.stride, task.n,
                                  scores + row * scoreStride + k, scoreStride);
}

/**
 * All scores of a task; the number of keys is a multiple of kBlockKeys. Few keys at a time stay in the
 * first-level cache while the rows pass by.
 */
template <class V, class T>
inline void dotTile(const DotTask<T>& task, T* scores, int scoreStride) {
  for (int first = 0; first < task.keys; first += kCachedKeys) {
    const int count = task.keys - first < kCachedKeys ? task.keys - first : kCachedKeys;
    int r = 0;
    for (; r + kBlockRows <= task.rows; r += kBlockRows)
      dotKeys<V, T, kBlockRows>(task, r, first, count, scores, scoreStride);
    for (; r + 2 <= task.rows; r += 2) dotKeys<V, T, 2>(task, r, first, count, scores, scoreStride);
    for (; r < task.rows; ++r) dotKeys<V, T, 1>(task, r, first, count, scores, scoreStride);
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

/** Outputs and the weights and values that they sum up: out[rows][n] += p[rows][keys] * tile[keys][n]. */
template <class T>
struct AccumulateTask {
  const T* p;
  int rows;
  int pStride;
  const T* tile;
  int keys;
  int stride;
  T* out;
  int n;
};

/** Columns v .. v + C vectors of all rows. */
template <class V, class T, int C>
inline void accumulateColumns(const AccumulateTask<T>& task, int v) {
  const auto rows = [&]<int R>(std::integral_constant<int, R>, int r) {
    accumulateBlock<V, T, R, C>(task.p + r * task.pStride, task.pStride, task.tile + v, task.keys,
                                task.stride, task.out + r * task.n + v, task.n);
  };
  int r = 0;
  for (; r + kBlockRows <= task.rows; r += kBlockRows) rows(std::integral_constant<int, kBlockRows>{}, r);
  for (; r + 2 <= task.rows; r += 2) rows(std::integral_constant<int, 2>{}, r);
  for (; r < task.rows; ++r) rows(std::integral_constant<int, 1>{}, r);
}

/** All outputs of a task; n is a multiple of 16. */
template <class V, class T>
inline void accumulateTile(const AccumulateTask<T>& task) {
  constexpr int width = sizeof(V) / sizeof(T);
  int v = 0;
  for (; v + width * kBlockVectors <= task.n; v += width * kBlockVectors)
    accumulateColumns<V, T, kBlockVectors>(task, v);
  for (; v < task.n; v += width) accumulateColumns<V, T, 1>(task, v);
}

}  // namespace
}  // namespace dcpscope::DCPSCOPE_ISA
