#pragma once
#include <cstdint>
#include <string>

namespace dcpscope::cuda {

/** What the driver's management library says without a context on the GPU; it may be missing. */
class Nvml {
 public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /** Version of the driver, e.g. 580.65.06; empty when it is not known. */
  std::string driver() const;
  /** Free memory of the GPU with this UUID, -1 when it is not known. */
  int64_t freeBytes(const std::string& uuid) const;
  /** NVLink links of that GPU which are up, 0 where it has none, -1 when it is not known. */
  int nvLinks(const std::string& uuid) const;

 private:
  void* library_ = nullptr;
};

}  // namespace dcpscope::cuda
