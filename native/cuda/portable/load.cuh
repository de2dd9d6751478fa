#pragma once
#include "cuda/portable/ptx.cuh"
#include "cuda/portable/rows.cuh"
#include "cuda/portable/shared.cuh"
#include "cuda/portable/spread.cuh"
#include "cuda/portable/work.h"

namespace dcpscope::cuda::portable {

/** Brings queries and keys to shared memory; each warp its own keys of every tile. T is a Tile. */
template <class T>
class Loader {
 public:
  __device__ Loader(const Work& work, const Shared<T>& shared)
      : work_(work), shared_(shared), warp_(int(threadIdx.x) / 32), lane_(int(threadIdx.x) % 32) {}

  /** Begins to copy the rows of the piece; zeros behind them. */
  __device__ void copyQueries() {
    const auto* rows = static_cast<const unsigned char*>(work_.in.q);
    const int bytes = 2 * work_.shape.keyDim;
    for (int row = warp_; row < T::kRows; row += kWarps) {
      const bool real = row < shared_.piece().rows;
      const unsigned char* from = rows + rowOf<T>(work_, shared_.piece(), real ? row : 0) * bytes;
      const uint32_t to = sharedAddress(shared_.queries() + row * shared_.queryStride());
      for (int at = 16 * lane_; at < bytes; at += 16 * 32) copyAsync(to + at, from + at, real);
    }
  }

  /** Looks up where this warp's keys of a tile lie, -1 for none and from key `limit` on. */
  __device__ void find(int tile, int limit) {
    const int group = shared_.piece().group;
#pragma unroll
    for (int i = 0; i < T::kKeysPerWarp; ++i) {
      const int key = tile * T::kKeys + warp_ * T::kKeysPerWarp + i;
      rows_[i] = -1;
      if (key >= limit) continue;
      if (work_.shape.topk > 0) {
        rows_[i] = work_.in.slots[int64_t(group) * work_.shape.topk + key];
      } else {
        const int page = key / work_.shape.pageSize;
        const int64_t id = work_.in.pageTable[work_.in.tableBegin[requestOf<T>(work_, group)] + page];
        rows_[i] = id * work_.shape.pageSize + (key - page * work_.shape.pageSize);
      }
    }
  }

  /** Begins to copy the keys that `find` has found: zeros for those that are none. */
  __device__ void copyTile(int buffer) {
    const int bytes = rowBytes(T::kKv, work_.shape.keyDim);
    unsigned char* tile = T::kQuantised ? shared_.raw() : shared_.keys(buffer);
    const int stride = T::kQuantised ? T::rawStride(work_.shape.keyDim) : shared_.keyStride();
#pragma unroll
    for (int i = 0; i < T::kKeysPerWarp; ++i) {
      const int key = warp_ * T::kKeysPerWarp + i;
      const bool valid = rows_[i] >= 0;
      const auto* from = static_cast<const unsigned char*>(work_.in.pool);
      const uint32_t to = sharedAddress(tile + key * stride);
      if constexpr (T::kGrouped) {
        const int kvHeads = work_.kvHeads;
        from += (valid ? rows_[i] * 2 * kvHeads + shared_.piece().group % kvHeads : 0) * bytes;
        // The value lies behind the keys of all KV heads in the pool, and behind the key here.
        copyRow(to + bytes, from + int64_t{kvHeads} * bytes, bytes, valid);
      } else {
        from += valid ? rows_[i] * bytes : 0;
      }
      copyRow(to, from, bytes, valid);
      if (lane_ == 0) shared_.valid(buffer)[key] = valid;
    }
  }

  /** Each warp spreads the rows that it copied; those of key and value lie behind each other. */
  __device__ void spreadTile() {
#pragma unroll
    for (int i = 0; i < T::kKeysPerWarp; ++i) {
      const int key = warp_ * T::kKeysPerWarp + i;
      spreadRow<T::kKv>(shared_.raw() + key * T::rawStride(work_.shape.keyDim),
                        shared_.keys(0) + key * shared_.keyStride(), T::kRowsOfKey * work_.shape.keyDim,
                        lane_);
    }
    __syncwarp();
  }

 private:
  __device__ void copyRow(uint32_t to, const unsigned char* from, int bytes, bool valid) const {
    for (int at = 16 * lane_; at < bytes; at += 16 * 32) copyAsync(to + at, from + at, valid);
  }

  const Work& work_;
  // A copy: a reference to a neighbouring member would keep that whole object, sums and all, in memory.
  const Shared<T> shared_;
  const int warp_;
  const int lane_;
  /** Where this warp's keys lie in the pool. */
  int64_t rows_[T::kKeysPerWarp];
};

}  // namespace dcpscope::cuda::portable
