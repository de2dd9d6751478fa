#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/group.h"

/**
 * Entry points of dcpscope_cuda.so, which the addon opens at run time. The same compiler builds both from the
 * same headers, so C++ types cross; DCPSCOPE_INTERFACE, a hash of the headers in core/ and of this one, says
 * whether that holds.
 */
namespace dcpscope::cuda {

struct GpuInfo {
  std::string name;
  int computeMajor;
  int computeMinor;
  int multiprocessors;
  int64_t memoryBytes;
  int64_t freeBytes;
  /** CUDA versions as 1000 * major + 10 * minor: the newest that the driver knows, and this library's. */
  int driverVersion;
  int runtimeVersion;
  std::string uuid;
  /** Version of the driver itself, empty when it is not known. */
  std::string driver;
  /** The other GPUs whose memory it can reach. */
  std::vector<int> peers;
  /** NVLink links that are up, -1 when it is not known. */
  int nvLinks;
  /** One line that says why it cannot be used; empty when it can. */
  std::string problem;
};

/** NCCL, by which ranks on GPUs of their own exchange: its version, or why it cannot be used, in one line. */
struct NcclInfo {
  std::string version;
  std::string reason;
};

struct Report {
  /** One line that says why no GPU can be used; empty when the first of `devices` can. */
  std::string reason;
  /** In the order in which CUDA counts them. */
  std::vector<GpuInfo> devices;
  NcclInfo nccl;
};

}  // namespace dcpscope::cuda

extern "C" {

const char* dcpscope_cuda_interface();

/** Looks at the GPUs. Throws nothing. */
void dcpscope_cuda_devices(dcpscope::cuda::Report& report);

/** Why kernels cannot be recorded on this machine, in one line; empty when they can. Throws nothing. */
void dcpscope_cuda_kernel_problem(std::string& problem);

/** A GPU of the report that has no problem, by its place there. */
const dcpscope::Device& dcpscope_cuda_device(int index);
}
