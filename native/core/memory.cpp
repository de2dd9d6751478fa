#include "core/memory.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/error.h"

namespace dcpscope {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
/** Left to the process beside the run: JavaScript, copies of trace chunks, stacks. */
constexpr int64_t kHeadroom = int64_t{96} << 20;
/** Left on a device: code that is loaded when it first runs, and the driver's own. */
constexpr int64_t kDeviceHeadroom = int64_t{256} << 20;

int64_t readNumber(const std::string& path) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : -1;
}

/** Value in a file of `key value` lines, -1 when absent. */
int64_t readField(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  int64_t value = 0;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    if (fields >> name >> value && name == key) return value;
  }
  return -1;
}

/** What one control group leaves; page cache that can be dropped counts as free. */
int64_t groupRest(const std::string& dir, const char* limitFile, const char* usageFile,
                  const char* cacheField) {
  const int64_t limit = readNumber(dir + limitFile);
  const int64_t usage = readNumber(dir + usageFile);
  if (limit < 0 || usage < 0) return kUnlimited;
  const int64_t cache = std::max<int64_t>(readField(dir + "/memory.stat", cacheField), 0);
  return std::max<int64_t>(limit - usage + cache, 0);
}

std::string groupPath(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) == controller) return line.substr(second + 1);
  }
  return "";
}

/** The least rest on the way from the process's group to the root. */
int64_t leastRest(const std::string& mount, std::string path, const char* limitFile, const char* usageFile,
                  const char* cacheField) {
  int64_t rest = kUnlimited;
  for (;;) {
    rest = std::min(rest, groupRest(mount + path, limitFile, usageFile, cacheField));
    const size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return rest;
    path.resize(slash);
  }
}

int64_t groupAvailable() {
  const int64_t v2 =
      leastRest("/sys/fs/cgroup", groupPath(""), "/memory.max", "/memory.current", "inactive_file");
  const int64_t v1 = leastRest("/sys/fs/cgroup/memory", groupPath("memory"), "/memory.limit_in_bytes",
                               "/memory.usage_in_bytes", "total_inactive_file");
  return std::min(v1, v2);
}

}  // namespace

std::string readable(int64_t bytes) {
  constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

MemoryAvailable memoryAvailable() {
  int64_t total = readField("/proc/meminfo", "MemTotal:") * 1024;
  int64_t available = readField("/proc/meminfo", "MemAvailable:") * 1024;
  if (total <= 0 || available < 0) {
    total = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    available = total;
  }
  return {std::min(available, groupAvailable()), total};
}

namespace {

/** The sum of the components of some kind of memory, and the largest of them. */
struct Need {
  int64_t bytes = 0;
  const MemoryComponent* largest = nullptr;
};

Need needOf(const std::vector<MemoryComponent>& components, bool device) {
  Need need;
  for (const MemoryComponent& component : components) {
    if ((component.place == MemoryPlace::device) != device) continue;
    need.bytes += component.bytes;
    if (need.largest == nullptr || component.bytes > need.largest->bytes) need.largest = &component;
  }
  return need;
}

std::string largestPart(const Need& need) {
  return "; the largest part is " + need.largest->name + " with " + readable(need.largest->bytes);
}

}  // namespace

void requireMemory(const std::vector<MemoryComponent>& components, int64_t available) {
  const Need need = needOf(components, false);
  if (need.largest == nullptr || need.bytes + kHeadroom <= available) return;
  throw EngineError(ErrorCode::memory, "the run needs " + readable(need.bytes + kHeadroom) + ", available " +
                                           readable(available) + largestPart(need));
}

void requireDeviceMemory(const std::vector<MemoryComponent>& components, int64_t available, int64_t total) {
  const Need need = needOf(components, true);
  if (need.largest == nullptr || need.bytes + kDeviceHeadroom <= available) return;
  // A context of our own takes some hundred MiB.
  constexpr int64_t kOwn = int64_t{1} << 30;
  const std::string others = total - available > kOwn ? ", as other programs use the GPU" : "";
  throw EngineError(ErrorCode::memory, "the run needs " + readable(need.bytes + kDeviceHeadroom) +
                                           " of the GPU's memory, available " + readable(available) + " of " +
                                           readable(total) + others + largestPart(need));
}

}  // namespace dcpscope
