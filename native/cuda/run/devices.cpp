#include "cuda/run/devices.h"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdio>
#include <string>

#include "comm/nccl.h"
#include "cuda/check.h"
#include "cuda/run/nvml.h"

namespace dcpscope::cuda {
namespace {

/** The oldest architecture that the kernels are built for. */
constexpr int kLeastMajor = 8;

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string words(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
}

std::string uuidText(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned>(uuid.bytes[i]) & 0xffU);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex.data();
  }
  return text;
}

GpuInfo infoOf(int device, const cudaDeviceProp& properties, int driver, int runtime, const Nvml& nvml) {
  GpuInfo info{};
  info.name = properties.name;
  info.computeMajor = properties.major;
  info.computeMinor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.memoryBytes = static_cast<int64_t>(properties.totalGlobalMem);
  info.driverVersion = driver;
  info.runtimeVersion = runtime;
  info.uuid = uuidText(properties.uuid);
  info.driver = nvml.driver();
  info.nvLinks = nvml.nvLinks(info.uuid);
  info.freeBytes = nvml.freeBytes(info.uuid);
  if (info.freeBytes >= 0) return info;
  size_t free = 0;
  size_t total = 0;
  const bool known = cudaSetDevice(device) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess;
  info.freeBytes = known ? static_cast<int64_t>(free) : 0;
  return info;
}

/** Why there is no device to look at. */
std::string reasonFor(cudaError_t error, int driver, int runtime) {
  if (driver == 0) return "there is no NVIDIA driver on this machine";
  if (error == cudaErrorInsufficientDriver || driver < runtime / 1000 * 1000)
    return "the NVIDIA driver is too old: it knows CUDA " + version(driver) + ", the engine needs CUDA " +
           version(runtime);
  if (error == cudaErrorNoDevice) return "the NVIDIA driver finds no GPU";
  return "the GPU cannot be used: " + words(error);
}

std::string unfit(const GpuInfo& info, const cudaDeviceProp& properties, int mode) {
  const std::string capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
  if (properties.major < kLeastMajor)
    return "the GPU " + info.name + " has compute capability " + capability +
           ", the kernels need 8.0 or newer";
  if (mode == cudaComputeModeProhibited)
    return "the GPU " + info.name + " is set to a compute mode that lets no program use it";
  return "";
}

std::vector<int> peersOf(int device, int count) {
  std::vector<int> peers;
  for (int other = 0; other < count; ++other) {
    int can = 0;
    if (other != device && cudaDeviceCanAccessPeer(&can, device, other) == cudaSuccess && can != 0)
      peers.push_back(other);
  }
  return peers;
}

Report look() {
  Report report;
  int driver = 0;
  int runtime = 0;
  int count = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  const cudaError_t result = driver == 0 ? cudaErrorNoDevice : cudaGetDeviceCount(&count);
  if (result != cudaSuccess || count == 0) {
    report.reason = reasonFor(result == cudaSuccess ? cudaErrorNoDevice : result, driver, runtime);
    return report;
  }
  const Nvml nvml;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    const cudaError_t asked = cudaGetDeviceProperties(&properties, device);
    if (asked != cudaSuccess) {
      report.reason = reasonFor(asked, driver, runtime);
      return report;
    }
    report.devices.push_back(infoOf(device, properties, driver, runtime, nvml));
    GpuInfo& info = report.devices.back();
    int mode = cudaComputeModeDefault;
    static_cast<void>(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device));
    info.problem = unfit(info, properties, mode);
    info.peers = peersOf(device, count);
  }
  report.reason = report.devices.front().problem;
  static const nccl::Library nccl;
  report.nccl = {nccl.problem().empty() ? nccl::versionText(nccl.version()) : "", nccl.problem()};
  return report;
}

}  // namespace

Report lookAtDevices() {
  Report report = look();
  forgetError();
  return report;
}

}  // namespace dcpscope::cuda
