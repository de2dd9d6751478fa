#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/config.h"

namespace dcpscope {

struct MemoryComponent {
  std::string name;
  int64_t bytes;
};

struct MemoryAvailable {
  int64_t available;
  int64_t total;
};

/** What the system and the control group of this process leave for new allocations. */
MemoryAvailable memoryAvailable();

/** Throws ERR_MEMORY that names need, rest and the largest component when the sum does not fit. */
void requireMemory(const std::vector<MemoryComponent>& components, int64_t available);

}  // namespace dcpscope
