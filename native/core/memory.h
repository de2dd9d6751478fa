#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/config.h"

namespace dcpscope {

/** `pinned` is memory of the host that a device reaches. */
enum class MemoryPlace { host, pinned, device };

struct MemoryComponent {
  std::string name;
  int64_t bytes;
  MemoryPlace place = MemoryPlace::host;
};

struct MemoryAvailable {
  int64_t available;
  int64_t total;
};

/** A size for people: `3.2 GiB`. */
std::string readable(int64_t bytes);

/** What the system and the control group of this process leave for new allocations. */
MemoryAvailable memoryAvailable();

/** Throws ERR_MEMORY that names need, rest and the largest component when those of the host do not fit. */
void requireMemory(const std::vector<MemoryComponent>& components, int64_t available);

/** The same for those of a device: of its `total` bytes `available` are free. */
void requireDeviceMemory(const std::vector<MemoryComponent>& components, int64_t available, int64_t total);

}  // namespace dcpscope
