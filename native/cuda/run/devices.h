#pragma once
#include "cuda/library.h"

namespace dcpscope::cuda {

/** Looks at the GPUs; a reason in one line when the first cannot be used. */
Report lookAtDevices();

}  // namespace dcpscope::cuda
