#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace dcpscope::cuda::tests {

/** What one row of an output looks like beside the reference. */
struct RowCheck {
  /** Norm of the difference over the norm of the reference. */
  float error;
  float lse;
  /** Absolute difference to the reference. */
  float lseError;
  bool allZero;
  bool allNan;
  /** Every byte of the row is `poison`, and so is its lse. */
  bool untouched;
  /** The reference is NaN throughout, its lse too. */
  bool nanExpected;
};

/** Compares [rows][dim] bf16 or fp32 and [rows] with the reference; all pointers on the device. */
std::vector<RowCheck> checkRows(const void* out, bool outFp32, const float* lse, const double* referenceOut,
                                const double* referenceLse, int64_t rows, int dim, uint8_t poison);

/** Bytes that differ between two device buffers. */
int64_t differingBytes(const void* a, const void* b, int64_t bytes);

}  // namespace dcpscope::cuda::tests
