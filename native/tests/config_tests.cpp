#include <string>

#include "core/config.h"
#include "core/error.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

std::string refusal(const Config& config) {
  try {
    validate(config);
  } catch (const EngineError& error) {
    return error.what();
  }
  return "";
}

Config gpuConfig() {
  Config config;
  config.contextLens = {8};
  config.heads = 4;
  config.cuda = true;
  return config;
}

/** What the CPU alone computes is no configuration of a GPU. */
void gpusRefuseWhatTheyDoNotCompute() {
  EXPECT(refusal(gpuConfig()).empty());
  Config grouped = gpuConfig();
  grouped.kvHeads = 2;
  grouped.headDim = 64;
  EXPECT(refusal(grouped) == "kvHeads: are attended to on the CPU only");
  Config narrow = gpuConfig();
  narrow.lseBf16 = true;
  EXPECT(refusal(narrow) == "lseType: must be fp32 on a GPU");
  Config layout = gpuConfig();
  layout.lseLayout = LseLayout::requests;
  EXPECT(refusal(layout).empty());
  layout.qLen = 2;
  EXPECT(refusal(layout) == "lseLayout: must be [T,H] on a GPU");
  Config padded = gpuConfig();
  padded.paddedHeads = 4;
  EXPECT(refusal(padded).empty());
  padded.paddedHeads = 64;
  EXPECT(refusal(padded) == "paddedHeads: must be 0 on a GPU");
}

}  // namespace

void configs() { gpusRefuseWhatTheyDoNotCompute(); }

}  // namespace dcpscope::tests
