#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/check.h"
#include "cuda/tests/gpu_test.h"

namespace dcpscope::cuda::tests {

/** Device memory with guard bytes before and behind it, which `checkGuards` compares. */
class GuardedBytes {
 public:
  explicit GuardedBytes(int64_t bytes) : bytes_(bytes) {
    void* memory = nullptr;
    cudaCheck(cudaMalloc(&memory, static_cast<size_t>(bytes + 2 * kGuard)), "memory of a test");
    memory_ = static_cast<uint8_t*>(memory);
    cudaCheck(cudaMemset(memory_, kPattern, kGuard), "guard");
    cudaCheck(cudaMemset(memory_ + kGuard + bytes, kPattern, kGuard), "guard");
  }
  ~GuardedBytes() { cudaFree(memory_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  uint8_t* data() const { return memory_ + kGuard; }
  int64_t bytes() const { return bytes_; }

  void fill(int byte) {
    cudaCheck(cudaMemset(data(), byte, static_cast<size_t>(bytes_)), "filling a buffer");
  }

  /** Throws a Failure that names `what` when a byte around the buffer has changed. */
  void checkGuards(const char* what) const {
    for (const uint8_t* guard : {memory_, memory_ + kGuard + bytes_}) {
      std::vector<uint8_t> host(kGuard);
      cudaCheck(cudaMemcpy(host.data(), guard, kGuard, cudaMemcpyDeviceToHost), "reading a guard");
      for (size_t i = 0; i < host.size(); ++i) {
        expect(host[i] == kPattern, format("%s: byte %zu %s the buffer was overwritten", what, i,
                                           guard == memory_ ? "of the guard before" : "behind"));
      }
    }
  }

 private:
  static constexpr int64_t kGuard = 4096;
  static constexpr uint8_t kPattern = 0xa5;

  uint8_t* memory_ = nullptr;
  int64_t bytes_;
};

/** Guarded device array. */
template <typename T>
class DeviceArray : public GuardedBytes {
 public:
  explicit DeviceArray(int64_t count) : GuardedBytes(count * int64_t(sizeof(T))), count_(count) {}
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(static_cast<int64_t>(host.size())) {
    upload(host);
  }

  T* get() const { return reinterpret_cast<T*>(data()); }
  int64_t count() const { return count_; }

  void upload(const std::vector<T>& host) {
    cudaCheck(cudaMemcpy(data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  }
  std::vector<T> download() const {
    std::vector<T> host(static_cast<size_t>(count_));
    cudaCheck(cudaMemcpy(host.data(), data(), host.size() * sizeof(T), cudaMemcpyDeviceToHost), "download");
    return host;
  }

 private:
  int64_t count_;
};

}  // namespace dcpscope::cuda::tests
