#pragma once
#include "cuda/portable/load.cuh"
#include "cuda/portable/ptx.cuh"
#include "cuda/portable/result.cuh"
#include "cuda/portable/shared.cuh"
#include "cuda/portable/tile.cuh"
#include "cuda/portable/work.h"

namespace dcpscope::cuda::portable {

/** One block at work. T is a Tile. */
template <class T>
class Attend {
 public:
  __device__ explicit Attend(const Work& work)
      : work_(work),
        thread_(int(threadIdx.x)),
        warp_(thread_ / 32),
        lane_(thread_ % 32),
        shared_{work.shape.keyDim},
        loader_(work, Shared<T>{work.shape.keyDim}) {
    const int groups = work.shape.valueDim / 16;
    const int perWarp = (groups + kWarps - 1) / kWarps;
    firstColumns_ = warp_ * perWarp;
    columnGroups_ = max(0, min(perWarp, groups - firstColumns_));
  }

  /** Does the piece in shared memory, which was set before a barrier. */
  __device__ void run() {
    loadBounds();
    int tile = shared_.piece().tile;
    const int endTile = min(shared_.piece().endTile, (limit_ + T::kKeys - 1) / T::kKeys);
    start();
    if (tile < endTile) {
      loader_.copyQueries();
      loader_.find(tile, limit_);
      loader_.copyTile(0);
      if (tile + 1 < endTile) loader_.find(tile + 1, limit_);
    }
#pragma unroll 1
    for (int buffer = 0; tile < endTile; ++tile, buffer ^= 1) {
      waitCopies();
      __syncthreads();
      if constexpr (T::kQuantised) loader_.spreadTile();
      if (tile + 1 < endTile) loader_.copyTile(buffer ^ 1);
      if (tile + 2 < endTile) loader_.find(tile + 2, limit_);
      if constexpr (T::kQuantised) __syncthreads();
      const uint32_t keys = sharedAddress(shared_.keys(T::kQuantised ? 0 : buffer));
      multiplyScores(keys);
      __syncthreads();
      weigh(tile * T::kKeys, buffer);
      __syncthreads();
      accumulate(keys);
    }
    normalise();
    __syncthreads();
    write();
  }

 private:
  __device__ void loadBounds() {
    if (thread_ < T::kRows) {
      const bool real = thread_ < shared_.piece().rows;
      const int64_t token = real ? rowOf<T>(work_, shared_.piece(), thread_) / work_.shape.heads : 0;
      shared_.bounds()[thread_] = !real                  ? 0
                                  : work_.shape.topk > 0 ? work_.shape.topk
                                                         : work_.in.bounds[token];
    }
    __syncthreads();
    limit_ = 0;
    for (int i = 0; i < T::kRows; ++i) limit_ = max(limit_, shared_.bounds()[i]);
  }

  __device__ void start() {
    top_ = -INFINITY;
    weight_ = 0;
#pragma unroll
    for (int r = 0; r < T::kRowTiles; ++r) {
#pragma unroll
      for (int g = 0; g < kGroupsPerWarp; ++g) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) sums_[r][g][n][i] = 0;
        }
      }
    }
  }

  /** Products of queries and keys, each warp over its part of the width. */
  __device__ void multiplyScores(uint32_t keys) {
    const int rowTile = warp_ % T::kRowTiles;
    const int keyGroup = warp_ / T::kRowTiles % T::kKeyGroups;
    const int part = warp_ / (T::kRowTiles * T::kKeyGroups);
    const int firstKey = keyGroup * T::kColumnTiles * 8;
    const uint32_t a = sharedAddress(shared_.queries()) +
                       (rowTile * 16 + lane_ % 16) * shared_.queryStride() + lane_ / 16 * 16;
    const int stride = shared_.keyStride();
    const uint32_t b = keys + (firstKey + lane_ % 8) * stride + lane_ / 8 % 2 * 16;
    const int steps = work_.shape.keyDim / 16;
    // Two chains of sums, so that one product need not wait for the other.
    float sum[2][T::kColumnTiles][4] = {};
    for (int step = part; step < steps; step += 2 * T::kDepthParts) {
#pragma unroll
      for (int chain = 0; chain < 2; ++chain) {
        const int at = step + chain * T::kDepthParts;
        if (at >= steps) break;
        uint32_t q[4];
        loadMatrices(q, a + 32 * at);
#pragma unroll
        for (int c = 0; c < T::kColumnTiles; ++c) {
          uint32_t k[2];
          loadMatrices(k, b + c * 8 * stride + 32 * at);
          multiplyAdd(sum[chain][c], q, k[0], k[1]);
        }
      }
    }
    const int row = part * T::kRows + rowTile * 16 + lane_ / 4;
#pragma unroll
    for (int c = 0; c < T::kColumnTiles; ++c) {
      float* to = shared_.scores() + row * T::kScoreStride + firstKey + c * 8 + lane_ % 4 * 2;
      const float (&x)[4] = sum[0][c];
      const float (&y)[4] = sum[1][c];
      *reinterpret_cast<float2*>(to) = make_float2(x[0] + y[0], x[1] + y[1]);
      *reinterpret_cast<float2*>(to + 8 * T::kScoreStride) = make_float2(x[2] + y[2], x[3] + y[3]);
    }
  }

  /** Scores to probabilities relative to the largest score so far. */
  __device__ void weigh(int firstKey, int buffer) {
    const int row = thread_ / T::kRowThreads;
    const int first = thread_ % T::kRowThreads * T::kScores;
    float exponents[T::kScores];
    float largest = top_;
#pragma unroll
    for (int i = 0; i < T::kScores; ++i) {
      const int key = first + i;
      float score = 0;
#pragma unroll
      for (int part = 0; part < T::kDepthParts; ++part) {
        score += shared_.scores()[(part * T::kRows + row) * T::kScoreStride + key];
      }
      const bool seen = firstKey + key < shared_.bounds()[row] && shared_.valid(buffer)[key] != 0;
      exponents[i] = seen ? score * work_.scoreScale : -INFINITY;
      largest = fmaxf(largest, exponents[i]);
    }
#pragma unroll
    for (int step = T::kRowThreads / 2; step > 0; step /= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, step));
    }
    const float factor = largest == -INFINITY ? 1.0f : exp2f(top_ - largest);
    top_ = largest;
    weight_ *= factor;
    auto* to = reinterpret_cast<__nv_bfloat16*>(shared_.probabilities()) + row * T::kScoreStride + first;
#pragma unroll
    for (int i = 0; i < T::kScores; ++i) {
      const float p = exponents[i] == -INFINITY ? 0.0f : exp2f(exponents[i] - largest);
      weight_ += p;
      to[i] = __float2bfloat16_rn(p);
    }
    if (thread_ % T::kRowThreads == 0) shared_.factors()[row] = factor;
  }

  /** Scales the sums to the new largest score and adds this tile's values, each warp in its columns. */
  __device__ void accumulate(uint32_t keys) {
#pragma unroll
    for (int r = 0; r < T::kRowTiles; ++r) {
      const float upper = shared_.factors()[r * 16 + lane_ / 4];
      const float lower = shared_.factors()[r * 16 + lane_ / 4 + 8];
      if (!__any_sync(0xffffffffU, upper != 1.0f || lower != 1.0f)) continue;
#pragma unroll
      for (int g = 0; g < kGroupsPerWarp; ++g) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          sums_[r][g][n][0] *= upper;
          sums_[r][g][n][1] *= upper;
          sums_[r][g][n][2] *= lower;
          sums_[r][g][n][3] *= lower;
        }
      }
    }
    const uint32_t a =
        sharedAddress(shared_.probabilities()) + lane_ % 16 * (2 * T::kScoreStride) + lane_ / 16 * 16;
    const int stride = shared_.keyStride();
    const uint32_t values = keys + 2 * T::valueAt(work_.shape.keyDim);
    const uint32_t b = values + lane_ % 16 * stride + lane_ / 16 * 16 + firstColumns_ * 32;
#pragma unroll
    for (int k = 0; k < T::kKeys / 16; ++k) {
      uint32_t p[T::kRowTiles][4];
#pragma unroll
      for (int r = 0; r < T::kRowTiles; ++r) {
        loadMatrices(p[r], a + r * 16 * (2 * T::kScoreStride) + 32 * k);
      }
#pragma unroll
      for (int g = 0; g < kGroupsPerWarp; ++g) {
        if (g >= columnGroups_) break;
        uint32_t v[4];
        loadTransposed(v, b + k * 16 * stride + 32 * g);
#pragma unroll
        for (int r = 0; r < T::kRowTiles; ++r) {
          multiplyAdd(sums_[r][g][0], p[r], v[0], v[1]);
          multiplyAdd(sums_[r][g][1], p[r], v[2], v[3]);
        }
      }
    }
  }

  __device__ void normalise() {
#pragma unroll
    for (int step = T::kRowThreads / 2; step > 0; step /= 2) {
      weight_ += __shfl_xor_sync(0xffffffffU, weight_, step);
    }
    // The last tile's factors are still being read, so these lie elsewhere: in the scores.
    if (thread_ % T::kRowThreads == 0) {
      const int row = thread_ / T::kRowThreads;
      // The largest score does not show a NaN, the weight does: it is 0 only for a row without keys.
      const bool empty = weight_ == 0;
      shared_.scores()[row] = empty ? 0.0f : work_.valueScale / weight_;
      shared_.lses()[row] = empty ? -INFINITY : top_ + log2f(weight_);
    }
  }

  __device__ void write() const {
    const int64_t slot = shared_.piece().slot;
    const int rows = shared_.piece().rows;
    const bool partial = slot >= 0;
    float filler = 0;
    const bool fills = emptyValue(work_, filler) && !partial;
    if (thread_ < rows) {
      if (partial) {
        work_.partialLse[slot * T::kRows + thread_] = shared_.lses()[thread_];
      } else {
        writeLse(work_, rowOf<T>(work_, shared_.piece(), thread_), shared_.lses()[thread_]);
      }
    }
#pragma unroll
    for (int r = 0; r < T::kRowTiles; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = r * 16 + half * 8 + lane_ / 4;
        if (row >= rows) continue;
        const bool empty = shared_.lses()[row] == -INFINITY;
        if (empty && !fills) continue;
        const RowTarget whole =
            partial ? partialRow(work_, slot, row) : resultRow(work_, rowOf<T>(work_, shared_.piece(), row));
        const RowTarget to = whole.from(firstColumns_ * 16 + lane_ % 4 * 2);
        const float factor = shared_.scores()[row];
#pragma unroll
        for (int g = 0; g < kGroupsPerWarp; ++g) {
          if (g >= columnGroups_) break;
#pragma unroll
          for (int n = 0; n < 2; ++n) {
            const float (&sum)[4] = sums_[r][g][n];
            to.put(g * 16 + n * 8, empty ? filler : sum[2 * half] * factor,
                   empty ? filler : sum[2 * half + 1] * factor);
          }
        }
      }
    }
  }

  const Work& work_;
  const int thread_;
  const int warp_;
  const int lane_;
  const Shared<T> shared_;
  Loader<T> loader_;
  int firstColumns_;
  int columnGroups_;

  /** Keys that any of the rows sees. */
  int limit_ = 0;
  /** Of this thread's row: largest exponent, and this thread's part of the sum of probabilities. */
  float top_ = 0;
  float weight_ = 0;
  float sums_[T::kRowTiles][kGroupsPerWarp][2][4];
};

}  // namespace dcpscope::cuda::portable
