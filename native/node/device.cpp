#include "node/device.h"

#include "cpu/group.h"
#include "node/cuda_library.h"

namespace dcpscope::node {

const Device& deviceOf(const Config& config, int gpu) { return config.cuda ? cudaDevice(gpu) : cpuDevice(); }

}  // namespace dcpscope::node
