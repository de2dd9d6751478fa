#pragma once
#include "cuda/tests/gpu_test.h"

/** The suites of the program; each names its cases `SUITE/...`. */
namespace dcpscope::cuda::tests {

void referenceTests(Runner& runner);
void attentionTests(Runner& runner);

}  // namespace dcpscope::cuda::tests
