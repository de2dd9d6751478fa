#pragma once
#include "cuda/tests/gpu_test.h"

/** The suites of the program; each names its cases `SUITE/...`. */
namespace dcpscope::cuda::tests {

void referenceTests(Runner& runner);
void attentionTests(Runner& runner);
void opsInputTests(Runner& runner);
void opsCacheTests(Runner& runner);
void opsNeutralizeTests(Runner& runner);
void opsTransportTests(Runner& runner);
void opsGatherTests(Runner& runner);
void opsRestTests(Runner& runner);
void opsFaultTests(Runner& runner);
/** What is left behind when CUDA refuses something. */
void errorTests(Runner& runner);
/** How long each kernel takes, as notes. */
void opsTimeTests(Runner& runner);

}  // namespace dcpscope::cuda::tests
