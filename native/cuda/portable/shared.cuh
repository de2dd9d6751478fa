#pragma once
#include <cstdint>

#include "cuda/portable/tile.cuh"

namespace dcpscope::cuda::portable {

/** What a block works on: query rows of one item over the key tiles [tile, endTile). In shared memory. */
struct Piece {
  int64_t firstRow;
  int32_t group;
  int32_t index;
  int32_t rows;
  int32_t tile;
  int32_t endTile;
  /** Partial slot that the result goes to, -1 for the result itself. */
  int32_t slot;
};

/** The parts of a block's shared memory. T is a Tile. */
template <class T>
struct Shared {
  int keyDim;

  /** Bytes of a row of queries, and of keys. */
  __device__ int queryStride() const { return T::queryStride(keyDim); }
  __device__ int keyStride() const { return T::keyStride(keyDim); }

  template <class U>
  static __device__ U* at(int offset) {
    extern __shared__ __align__(16) unsigned char shared[];
    return reinterpret_cast<U*>(shared + offset);
  }
  static __device__ Piece& piece() { return *at<Piece>(T::kPieceAt); }
  /** [kDepthParts][kRows][kScoreStride] */
  static __device__ float* scores() { return at<float>(T::kScoresAt); }
  /** bf16 [kRows][kScoreStride] */
  static __device__ unsigned char* probabilities() { return at<unsigned char>(T::kProbabilitiesAt); }
  /** Of each row: what its sums are multiplied by, its log-sum-exp in base 2, the keys that it sees. */
  static __device__ float* factors() { return at<float>(T::kFactorsAt); }
  static __device__ float* lses() { return at<float>(T::kLsesAt); }
  static __device__ int32_t* bounds() { return at<int32_t>(T::kBoundsAt); }
  /** Whether there is such a key, for each of a tile. */
  static __device__ int32_t* valid(int buffer) { return at<int32_t>(T::kValidAt) + buffer * T::kKeys; }
  static __device__ unsigned char* queries() { return at<unsigned char>(T::kQueriesAt); }
  __device__ unsigned char* keys(int buffer) const {
    return queries() + T::queryBytes(keyDim) + buffer * T::keyBytes(keyDim);
  }
  /** Rows of a quantised cache as they are. */
  __device__ unsigned char* raw() const { return keys(T::kKeyBuffers); }
};

}  // namespace dcpscope::cuda::portable
