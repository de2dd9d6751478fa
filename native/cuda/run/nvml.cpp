#include "cuda/run/nvml.h"

#include <dlfcn.h>

#include <array>

namespace dcpscope::cuda {
namespace {

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/** A function of the library; it and its callers agree on plain C types, 0 is success. */
template <class... Arguments>
bool call(void* library, const char* name, Arguments... arguments) {
  if (library == nullptr) return false;
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  return function != nullptr && function(arguments...) == 0;
}

/** Links of a GPU at most, as the library numbers them. */
constexpr unsigned kMostLinks = 18;
/** What the library answers of links that a device does not have. */
constexpr int kNotSupported = 3;
constexpr int kInvalidArgument = 2;

}  // namespace

Nvml::Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr || call(library_, "nvmlInit_v2")) return;
  dlclose(library_);
  library_ = nullptr;
}

Nvml::~Nvml() {
  if (library_ == nullptr) return;
  call(library_, "nvmlShutdown");
  dlclose(library_);
}

std::string Nvml::driver() const {
  std::array<char, 96> text{};
  const bool known =
      call(library_, "nvmlSystemGetDriverVersion", text.data(), static_cast<unsigned>(text.size()));
  return known ? text.data() : "";
}

int64_t Nvml::freeBytes(const std::string& uuid) const {
  void* device = nullptr;
  Memory memory{};
  const bool known = call(library_, "nvmlDeviceGetHandleByUUID", uuid.c_str(), &device) &&
                     call(library_, "nvmlDeviceGetMemoryInfo", device, &memory);
  return known ? static_cast<int64_t>(memory.free) : -1;
}

int Nvml::nvLinks(const std::string& uuid) const {
  void* device = nullptr;
  if (!call(library_, "nvmlDeviceGetHandleByUUID", uuid.c_str(), &device)) return -1;
  const auto state =
      reinterpret_cast<int (*)(void*, unsigned, unsigned*)>(dlsym(library_, "nvmlDeviceGetNvLinkState"));
  if (state == nullptr) return -1;
  int up = 0;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    unsigned active = 0;
    const int answer = state(device, link, &active);
    if (answer == kNotSupported || answer == kInvalidArgument) break;
    if (answer != 0) return -1;
    up += active != 0 ? 1 : 0;
  }
  return up;
}

}  // namespace dcpscope::cuda
