#include <algorithm>
#include <string>

#include "core/cores.h"
#include "core/error.h"
#include "cuda/check.h"
#include "cuda/run/group.h"

namespace dcpscope::cuda {

void useGpu(int index) {
  const cudaError_t result = cudaSetDevice(index);
  if (result == cudaErrorDevicesUnavailable) {
    forgetError();
    throw EngineError(ErrorCode::engine,
                      "the GPU is in use by another program that has it alone (exclusive compute mode)");
  }
  cudaCheck(result, "opening the GPU");
}

/** The run's own work on the CPU is the check alone. */
int Gpu::threads(const Config& config) const {
  return config.processes ? std::max(1, usableCores() / config.ranks) : usableCores();
}

std::vector<MemoryComponent> Gpu::memory(const Config& config) const {
  useGpu(index_);
  const Shape shape(config);
  const Sizes sizes(config, shape);
  std::vector<MemoryComponent> all =
      components(config, sizes, Attention::create(attentionShape(config, shape, sizes))->workspaceBytes());
  // The host is one for all processes.
  for (MemoryComponent& component : all)
    if (config.processes && component.place != MemoryPlace::device) component.bytes *= config.ranks;
  return all;
}

void Gpu::requireRoom(const std::vector<MemoryComponent>& components) const {
  useGpu(index_);
  size_t free = 0;
  size_t total = 0;
  cudaCheck(cudaMemGetInfo(&free, &total), "asking for the GPU's free memory");
  requireDeviceMemory(components, static_cast<int64_t>(free), static_cast<int64_t>(total));
}

std::unique_ptr<Group> Gpu::createGroup(RunState& state, Pool&) const {
  useGpu(index_);
  return std::make_unique<CudaGroup>(state, index_);
}

}  // namespace dcpscope::cuda
