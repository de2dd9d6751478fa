#pragma once
#include <cuda_runtime_api.h>

#include "cuda/check.h"

namespace dcpscope::cuda {

/** An attribute of the current device; ERR_ENGINE when it cannot be read. */
inline int deviceAttribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  cudaCheck(cudaGetDevice(&device), "looking up the device");
  cudaCheck(cudaDeviceGetAttribute(&value, attribute, device), "reading an attribute of the device");
  return value;
}

}  // namespace dcpscope::cuda
