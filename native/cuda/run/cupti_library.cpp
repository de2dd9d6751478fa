#include "cuda/run/cupti_library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace dcpscope::cuda {
namespace {

constexpr const char* kVariable = "DCPSCOPE_CUPTI";
constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr const char* kFolders[] = {"/lib64/", "/extras/CUPTI/lib64/"};

std::string missing() {
  std::string where =
      "no libcupti.so.13 or libcupti.so.12 in the loader's path, CUDA_HOME or /usr/local/cuda";
  if (const char* named = std::getenv(kVariable))
    where = std::string(kVariable) + " names " + named + ", which cannot be opened";
  return "CUPTI is missing (" + where +
         "); install the package cuda-cupti of the CUDA toolkit, or nvidia-cuda-cupti " +
         "with pip, and name its libcupti.so in " + kVariable + " if it lies elsewhere";
}

}  // namespace

std::vector<std::string> cuptiCandidates() {
  if (const char* named = std::getenv(kVariable)) return {named};
  std::vector<std::string> candidates(std::begin(kNames), std::end(kNames));
  const char* home = std::getenv("CUDA_HOME");
  for (const std::string& root : {std::string(home == nullptr ? "" : home), std::string("/usr/local/cuda")})
    for (const char* folder : kFolders)
      for (const char* name : kNames)
        if (!root.empty()) candidates.push_back(root + folder + name);
  return candidates;
}

CuptiLibrary::CuptiLibrary(const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates) {
    handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
  }
  problem_ = missing();
}

void* CuptiLibrary::find(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace dcpscope::cuda
