#include <cuda_bf16.h>

#include "cuda/tests/device_buffer.h"
#include "cuda/tests/row_check.h"

namespace dcpscope::cuda::tests {
namespace {

constexpr int kThreads = 128;

__device__ double blockSum(double value) {
  __shared__ double parts[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  double sum = 0;
  for (double part : parts) sum += part;
  return sum;
}

__global__ void compareRows(const void* out, bool outFp32, const float* lse, const double* referenceOut,
                            const double* referenceLse, int dim, uint8_t poison, RowCheck* checks) {
  const int64_t row = blockIdx.x;
  double difference = 0;
  double norm = 0;
  bool zero = true;
  bool nan = true;
  bool untouched = true;
  bool nanExpected = isnan(referenceLse[row]);
  const uint32_t pattern = poison * 0x01010101U;
  for (int d = threadIdx.x; d < dim; d += kThreads) {
    double value;
    if (outFp32) {
      const float single = static_cast<const float*>(out)[row * dim + d];
      untouched = untouched && __float_as_uint(single) == pattern;
      value = single;
    } else {
      const auto half = static_cast<const __nv_bfloat16*>(out)[row * dim + d];
      untouched = untouched && __bfloat16_as_ushort(half) == (pattern & 0xffff);
      value = __bfloat162float(half);
    }
    zero = zero && value == 0;
    nan = nan && isnan(value);
    const double expected = referenceOut[row * dim + d];
    nanExpected = nanExpected && isnan(expected);
    difference += (value - expected) * (value - expected);
    norm += expected * expected;
  }
  difference = blockSum(difference);
  norm = blockSum(norm);
  zero = __syncthreads_and(zero);
  nan = __syncthreads_and(nan);
  untouched = __syncthreads_and(untouched);
  nanExpected = __syncthreads_and(nanExpected);
  if (threadIdx.x == 0) {
    checks[row] = {.error = float(sqrt(difference / norm)),
                   .lse = lse[row],
                   .lseError = float(fabs(double(lse[row]) - referenceLse[row])),
                   .allZero = zero,
                   .allNan = nan,
                   .untouched = untouched && __float_as_uint(lse[row]) == pattern,
                   .nanExpected = nanExpected};
  }
}

__global__ void countDifferent(const uint8_t* a, const uint8_t* b, int64_t bytes, unsigned long long* count) {
  int64_t different = 0;
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < bytes;
       i += int64_t(gridDim.x) * kThreads) {
    different += a[i] != b[i];
  }
  if (different > 0) atomicAdd(count, static_cast<unsigned long long>(different));
}

}  // namespace

std::vector<RowCheck> checkRows(const void* out, bool outFp32, const float* lse, const double* referenceOut,
                                const double* referenceLse, int64_t rows, int dim, uint8_t poison) {
  DeviceArray<RowCheck> checks(rows);
  compareRows<<<unsigned(rows), kThreads>>>(out, outFp32, lse, referenceOut, referenceLse, dim, poison,
                                            checks.get());
  launched("comparing rows");
  return checks.download();
}

int64_t differingBytes(const void* a, const void* b, int64_t bytes) {
  DeviceArray<unsigned long long> count(std::vector<unsigned long long>{0});
  countDifferent<<<1024, kThreads>>>(static_cast<const uint8_t*>(a), static_cast<const uint8_t*>(b), bytes,
                                     count.get());
  launched("comparing bytes");
  return int64_t(count.download()[0]);
}

}  // namespace dcpscope::cuda::tests
