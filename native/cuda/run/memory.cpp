#include "cuda/run/memory.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstring>
#include <string>

#include "core/error.h"
#include "cuda/check.h"

namespace dcpscope::cuda {
namespace {

std::atomic<bool> leftToProcess{false};

void checkAllocation(cudaError_t result, const char* refused, int64_t bytes, const char* what) {
  if (result == cudaErrorMemoryAllocation) {
    forgetError();
    throw EngineError(ErrorCode::memory, std::string(refused) + " " + std::to_string(bytes) + " bytes for " +
                                             what + "; another program may have taken memory just now");
  }
  cudaCheck(result, what);
}

}  // namespace

void leaveMemoryToProcess() { leftToProcess = true; }

// The first constructor makes an object whose destructor frees what is there when the second one throws.
DeviceMemory::DeviceMemory(int64_t bytes, const char* what) : DeviceMemory() {
  bytes_ = bytes;
  if (bytes == 0) return;
  checkAllocation(cudaMalloc(reinterpret_cast<void**>(&data_), static_cast<size_t>(bytes)), "the GPU refused",
                  bytes, what);
  cudaCheck(cudaMemset(data_, 0, static_cast<size_t>(bytes)), what);
}

// After a fault nothing can be freed, and the process ends soon.
DeviceMemory::~DeviceMemory() {
  if (!leftToProcess) static_cast<void>(cudaFree(data_));
}

PinnedMemory::PinnedMemory(int64_t bytes, const char* what) : PinnedMemory() {
  bytes_ = bytes;
  if (bytes == 0) return;
  const auto size = static_cast<size_t>(bytes);
  checkAllocation(cudaHostAlloc(reinterpret_cast<void**>(&data_), size, cudaHostAllocMapped),
                  "the host refused to pin", bytes, what);
  cudaCheck(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device_), data_, 0), what);
  std::memset(data_, 0, size);
}

PinnedMemory::~PinnedMemory() {
  if (!leftToProcess) static_cast<void>(cudaFreeHost(data_));
}

}  // namespace dcpscope::cuda
