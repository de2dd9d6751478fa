#include "node/device.h"

#include "cpu/group.h"
#include "node/cuda_library.h"

namespace dcpscope::node {

const Device& deviceOf(const Config& config) { return config.cuda ? cudaDevice() : cpuDevice(); }

}  // namespace dcpscope::node
