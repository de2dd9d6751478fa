#pragma once
#include <string>

#include "core/group.h"
#include "cuda/library.h"

/** The CUDA engine: a library in the addon's folder, opened when it is first asked for. */
namespace dcpscope::node {

/** What GPUs there are, or why none can be used. */
cuda::Report cudaReport();

/** Why kernels on a GPU cannot be recorded here; empty when they can. */
std::string cudaKernelProblem();

/** A GPU by its place in the report; throws ERR_ENGINE with its problem, or why there is none. */
const Device& cudaDevice(int gpu);

}  // namespace dcpscope::node
