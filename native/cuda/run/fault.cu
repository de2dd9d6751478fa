#include <cstdlib>
#include <sstream>
#include <string>

#include "core/error.h"
#include "cuda/check.h"
#include "cuda/run/fault.h"

namespace dcpscope::cuda {
namespace {

__global__ void faultKernel(const Stamp* stamps, volatile int* nowhere) {
  if (stamps != nullptr) announce(stamps);
  __threadfence_system();
  *nowhere = 1;
}

}  // namespace

TestFault::TestFault() {
  const char* text = std::getenv("DCPSCOPE_TEST_FAULT");
  if (text == nullptr) return;
  std::istringstream parts(text);
  std::string stage;
  char colon = 0;
  std::getline(parts, stage, ':');
  parts >> rank_ >> colon >> step_;
  for (int i = 0; i < kStageCount; ++i)
    if (stage == name(static_cast<Stage>(i)) && colon == ':' && !parts.fail()) {
      stage_ = static_cast<Stage>(i);
      return;
    }
  throw EngineError(ErrorCode::config,
                    "DCPSCOPE_TEST_FAULT: must be stage:rank:step, got " + std::string(text));
}

void TestFault::strike(const Stamp* stamps, cudaStream_t stream) {
  faultKernel<<<1, 1, 0, stream>>>(stamps, reinterpret_cast<int*>(64));
  launched("a fault on purpose");
}

}  // namespace dcpscope::cuda
