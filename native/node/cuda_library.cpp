#include "node/cuda_library.h"

#include <dlfcn.h>

#include <cstring>
#include <string>

#include "core/error.h"

namespace dcpscope::node {
namespace {

constexpr const char* kFile = "dcpscope_cuda.so";

struct Library {
  /** Why it cannot be used; empty when it can. */
  std::string problem;
  decltype(&dcpscope_cuda_devices) devices = nullptr;
  decltype(&dcpscope_cuda_device) device = nullptr;
  decltype(&dcpscope_cuda_kernel_problem) kernelProblem = nullptr;
};

/** Folder of the addon with a slash at its end. */
std::string ownFolder() {
  static const char here = 0;
  Dl_info info{};
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.find_last_of('/') + 1);
}

bool exists(const std::string& path) {
  if (FILE* file = std::fopen(path.c_str(), "rb")) {
    std::fclose(file);
    return true;
  }
  return false;
}

Library open() {
  const std::string path = ownFolder() + kFile;
  if (!exists(path))
    return {"the CUDA engine is not built (no " + path + "); it is built where nvcc is found, see README.md"};
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {"the CUDA engine does not load: " + std::string(dlerror())};
  const auto interface =
      reinterpret_cast<decltype(&dcpscope_cuda_interface)>(dlsym(handle, "dcpscope_cuda_interface"));
  Library library;
  library.devices =
      reinterpret_cast<decltype(&dcpscope_cuda_devices)>(dlsym(handle, "dcpscope_cuda_devices"));
  library.device = reinterpret_cast<decltype(&dcpscope_cuda_device)>(dlsym(handle, "dcpscope_cuda_device"));
  library.kernelProblem = reinterpret_cast<decltype(&dcpscope_cuda_kernel_problem)>(
      dlsym(handle, "dcpscope_cuda_kernel_problem"));
  const bool whole = interface != nullptr && library.devices != nullptr && library.device != nullptr &&
                     library.kernelProblem != nullptr;
  if (!whole || std::strcmp(interface(), DCPSCOPE_INTERFACE) != 0)
    library.problem =
        "the CUDA engine is of another version than this engine; build both anew (" + path + ")";
  return library;
}

/** Opened once and never closed: its threads and the driver's outlive any unloading. */
const Library& library() {
  static const Library opened = open();
  return opened;
}

}  // namespace

cuda::Report cudaReport() {
  cuda::Report report;
  if (library().problem.empty())
    library().devices(report);
  else
    report.reason = library().problem;
  return report;
}

std::string cudaKernelProblem() {
  std::string problem = library().problem;
  if (problem.empty()) library().kernelProblem(problem);
  return problem;
}

const Device& cudaDevice(int gpu) {
  const cuda::Report report = cudaReport();
  const auto count = static_cast<int>(report.devices.size());
  if (count == 0) throw EngineError(ErrorCode::engine, report.reason);
  if (gpu < 0 || gpu >= count)
    throw EngineError(ErrorCode::engine, "there is no GPU " + std::to_string(gpu) + ": this machine has " +
                                             std::to_string(count) + ", counted from 0");
  const std::string& problem = report.devices[static_cast<size_t>(gpu)].problem;
  if (!problem.empty()) throw EngineError(ErrorCode::engine, problem);
  return library().device(gpu);
}

}  // namespace dcpscope::node
