#pragma once
#include <cuda_bf16.h>

#include <cmath>

#include "cuda/portable/work.h"
#include "cuda/row_result.cuh"

/** Writing final rows, as the shape and the treatment of rows without keys ask for. */
namespace dcpscope::cuda::portable {

/** A row of values in memory, or what of it lies behind some column. */
struct RowTarget {
  unsigned char* row;
  bool fp32;

  __device__ RowTarget from(int column) const { return {row + (fp32 ? 4 : 2) * column, fp32}; }

  /** Writes the values at `column`, an even one, and behind it. */
  __device__ void put(int column, float a, float b) const {
    if (fp32) {
      *reinterpret_cast<float2*>(row + 4 * column) = make_float2(a, b);
    } else {
      *reinterpret_cast<__nv_bfloat162*>(row + 2 * column) = __floats2bfloat162_rn(a, b);
    }
  }
};

__device__ inline RowTarget resultRow(const Work& work, int64_t row) {
  const int bytes = work.shape.outFp32 ? 4 : 2;
  return {static_cast<unsigned char*>(work.in.out) + row * work.shape.valueDim * bytes, work.shape.outFp32};
}

__device__ inline float* partialValues(const Work& work, int64_t slot, int row) {
  return work.partialOut + (slot * work.rows + row) * work.shape.valueDim;
}

__device__ inline RowTarget partialRow(const Work& work, int64_t slot, int row) {
  return {reinterpret_cast<unsigned char*>(partialValues(work, slot, row)), true};
}

/** The values of a row without keys; false: they stay unwritten. */
__device__ inline bool emptyValue(const Work& work, float& value) {
  float lse;
  return emptyRow(work.in.emptyRow, value, lse);
}

/** Writes the log-sum-exp of a row, given in base 2; -inf says that it has no keys. */
__device__ inline void writeLse(const Work& work, int64_t row, float lse2) {
  float value;
  float lse = lseIn(work.in.base2, lse2);
  if (lse2 == -INFINITY && !emptyRow(work.in.emptyRow, value, lse)) return;
  work.in.lse[row] = lse;
}

}  // namespace dcpscope::cuda::portable
