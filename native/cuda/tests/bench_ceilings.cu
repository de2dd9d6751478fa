#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "cuda/check.h"
#include "cuda/sm90/async.cuh"
#include "cuda/sm90/wgmma.cuh"
#include "cuda/tests/bench_ceilings.h"
#include "cuda/tests/random_data.h"

namespace dcpscope::cuda::bench {
namespace {

/** Milliseconds of `work` on the default stream. */
template <class F>
float timed(F&& work) {
  cudaEvent_t begin;
  cudaEvent_t end;
  cudaCheck(cudaEventCreate(&begin), "event");
  cudaCheck(cudaEventCreate(&end), "event");
  cudaCheck(cudaEventRecord(begin), "event");
  work();
  cudaCheck(cudaEventRecord(end), "event");
  cudaCheck(cudaEventSynchronize(end), "event");
  float ms = 0;
  cudaCheck(cudaEventElapsedTime(&ms, begin, end), "event");
  cudaCheck(cudaEventDestroy(begin), "event");
  cudaCheck(cudaEventDestroy(end), "event");
  return ms;
}

/** The part of cuBLAS's interface that a product needs (cublas_api.h). */
using Handle = void*;
using Create = int (*)(Handle*);
using Product = int (*)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int,
                        int, const void*, void*, int, int, int, int);
constexpr int kBf16 = 14;         // CUDA_R_16BF
constexpr int kComputeFp32 = 68;  // CUBLAS_COMPUTE_32F

constexpr int kRepeats = 400;
constexpr int kBoxesHeld = 20;

/** Two warpgroups of each multiprocessor multiply boxes of random values with each other. */
__global__ void __launch_bounds__(256) multiplyKernel(const uint4* data, float* sink) {
  extern __shared__ __align__(1024) unsigned char raw[];
  auto* to = reinterpret_cast<uint4*>(raw);
  for (uint32_t i = threadIdx.x; i < kBoxesHeld * kBoxBytes / 16; i += blockDim.x) to[i] = data[i];
  fenceAsyncProxy();
  __syncthreads();
  const uint32_t base = sharedAddress(raw) / kChunk;
  Accumulator<256> out;
  for (float& v : out.v) v = 0;
  for (int i = 0; i < kRepeats; ++i) {
    mmaFence();
    for (int step = 0; step < 4; ++step)
      valueStep(out, rowOperand(base + i % 4 * kBoxChunks + step * 2),
                columnOperand(base + (4 + i % 4 * 4) * kBoxChunks + step * 128));
    mmaCommit();
    mmaWait<0>();
  }
  if (out.v[0] == 12345.0F) sink[threadIdx.x] = out.v[1];
}

}  // namespace

double cublasRate() {
  void* library = nullptr;
  for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 0;
  const auto create = reinterpret_cast<Create>(dlsym(library, "cublasCreate_v2"));
  const auto product = reinterpret_cast<Product>(dlsym(library, "cublasGemmEx"));
  Handle handle = nullptr;
  if (create == nullptr || product == nullptr || create(&handle) != 0) return 0;
  constexpr int n = 8192;
  constexpr int64_t bytes = int64_t{2} * n * n;
  unsigned char* memory = nullptr;
  cudaCheck(cudaMalloc(&memory, 3 * bytes), "memory of a product");
  tests::fillQueries(memory, n, n, false, 1);
  tests::fillQueries(memory + bytes, n, n, false, 2);
  const float one = 1;
  const float zero = 0;
  const auto multiply = [&] {
    if (product(handle, 1, 0, n, n, n, &one, memory, kBf16, n, memory + bytes, kBf16, n, &zero,
                memory + 2 * bytes, kBf16, n, kComputeFp32, -1) != 0)
      throw EngineError(ErrorCode::engine, "cublasGemmEx failed");
  };
  for (int i = 0; i < 3; ++i) multiply();
  std::vector<float> times;
  for (int i = 0; i < 5; ++i)
    times.push_back(timed([&] {
                      for (int j = 0; j < 10; ++j) multiply();
                    }) /
                    10);
  std::sort(times.begin(), times.end());
  cudaCheck(cudaFree(memory), "memory of a product");
  return 2.0 * n * n * n / (times[times.size() / 2] * 1e-3);
}

double matrixUnitRate() {
  constexpr int kBytes = kBoxesHeld * kBoxBytes;
  unsigned char* data = nullptr;
  float* sink = nullptr;
  cudaCheck(cudaMalloc(&data, kBytes), "memory of the matrix rate");
  cudaCheck(cudaMalloc(&sink, 1024), "memory of the matrix rate");
  tests::fillQueries(data, kBytes / 128, 64, false, 3);
  cudaCheck(cudaFuncSetAttribute(multiplyKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
            "shared memory");
  int multiprocessors = 0;
  cudaCheck(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "multiprocessors");
  const auto launch = [&](int count) {
    return timed([&] {
      for (int i = 0; i < count; ++i)
        multiplyKernel<<<multiprocessors, 256, kBytes>>>(reinterpret_cast<uint4*>(data), sink);
      launched("matrix rate");
    });
  };
  launch(200);
  const float ms = launch(1000) / 1000;
  cudaCheck(cudaFree(data), "memory of the matrix rate");
  cudaCheck(cudaFree(sink), "memory of the matrix rate");
  const double flops = 2.0 * 64 * 64 * 256 * 2 * kRepeats * multiprocessors;
  return flops / (ms * 1e-3);
}

}  // namespace dcpscope::cuda::bench
