#include "cuda/run/memory.h"

#include <cuda_runtime_api.h>

#include <cstring>
#include <string>

#include "core/error.h"
#include "cuda/check.h"

namespace dcpscope::cuda {
namespace {

void checkAllocation(cudaError_t result, int64_t bytes, const char* what) {
  if (result == cudaErrorMemoryAllocation)
    throw EngineError(ErrorCode::memory,
                      "the GPU refused " + std::to_string(bytes) + " bytes for " + std::string(what));
  cudaCheck(result, what);
}

}  // namespace

DeviceMemory::DeviceMemory(int64_t bytes, const char* what) : bytes_(bytes) {
  if (bytes == 0) return;
  checkAllocation(cudaMalloc(reinterpret_cast<void**>(&data_), static_cast<size_t>(bytes)), bytes, what);
  cudaCheck(cudaMemset(data_, 0, static_cast<size_t>(bytes)), what);
}

// After a fault nothing can be freed, and the process ends soon.
DeviceMemory::~DeviceMemory() { static_cast<void>(cudaFree(data_)); }

PinnedMemory::PinnedMemory(int64_t bytes, const char* what) : bytes_(bytes) {
  if (bytes == 0) return;
  const auto size = static_cast<size_t>(bytes);
  checkAllocation(cudaHostAlloc(reinterpret_cast<void**>(&data_), size, cudaHostAllocMapped), bytes, what);
  cudaCheck(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device_), data_, 0), what);
  std::memset(data_, 0, size);
}

PinnedMemory::~PinnedMemory() { static_cast<void>(cudaFreeHost(data_)); }

}  // namespace dcpscope::cuda
