#pragma once
#include <cuda_runtime_api.h>

#include <string>

#include "core/error.h"

namespace dcpscope::cuda {

/** Forgets the last error of this thread, which otherwise the next launch would be blamed for. Faults stay.
 */
inline void forgetError() { static_cast<void>(cudaGetLastError()); }

/** Throws ERR_ENGINE that names what failed and CUDA's own words. */
inline void cudaCheck(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  forgetError();
  throw EngineError(ErrorCode::engine,
                    std::string(what) + ": " + cudaGetErrorName(result) + ": " + cudaGetErrorString(result));
}

/** Checks a kernel launch. */
inline void launched(const char* what) { cudaCheck(cudaGetLastError(), what); }

}  // namespace dcpscope::cuda
