#pragma once
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <functional>

/**
 * A device that is made of threads: CUDA's runtime as far as cuda/run uses it, and kernels that compute
 * nothing but stamp, announce themselves, wait for peers and read what peers wrote. For tests of what the
 * host does, on any machine.
 */
namespace dcpscope::cuda::host_tests {

struct Device {
  int gpus = 1;
  bool peersReach = true;
  /** A kernel has faulted: nothing works any more. */
  std::atomic<bool> faulted{false};
};
Device& device();

/** Puts work on a stream, or into the graph that it captures. */
void enqueue(cudaStream_t stream, std::function<void()> work);

uint64_t steadyNs();

/** What kernels that read from peers found. */
struct Readings {
  std::atomic<uint64_t> merges{0};
  std::atomic<uint64_t> gathers{0};
  /** Data of another layer or step than the reader's. */
  std::atomic<uint64_t> wrong{0};
  /** Merges right from the partials that took their lse in base 2, and that weighted all alike. */
  std::atomic<uint64_t> otherBase{0};
  std::atomic<uint64_t> alike{0};
};
Readings& readings();

}  // namespace dcpscope::cuda::host_tests
