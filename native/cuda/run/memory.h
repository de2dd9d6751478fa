#pragma once
#include <cstdint>

/** Memory of the GPU and memory of the host that the GPU reaches; freed with the object. */
namespace dcpscope::cuda {

/**
 * From now on nothing is freed, since that waits for the device, which does not come to the end of its work:
 * the memory goes with the process, which is of no further use.
 */
void leaveMemoryToProcess();

/** Zeroed memory of the current device. */
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /** Throws ERR_MEMORY that names `what`. Nothing is allocated for 0 bytes. */
  DeviceMemory(int64_t bytes, const char* what);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  int64_t bytes() const { return bytes_; }
  template <class T = char>
  T* at(int64_t offset = 0) const {
    return reinterpret_cast<T*>(data_ + offset);
  }

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

/** Zeroed memory of the host that does not move; the device sees the same addresses. */
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(int64_t bytes, const char* what);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  int64_t bytes() const { return bytes_; }
  template <class T = char>
  T* at(int64_t offset = 0) const {
    return reinterpret_cast<T*>(data_ + offset);
  }
  /** Address for the device. */
  template <class T = char>
  T* onDevice(int64_t offset = 0) const {
    return reinterpret_cast<T*>(device_ + offset);
  }

 private:
  char* data_ = nullptr;
  char* device_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace dcpscope::cuda
