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

/** KV heads, and an lse in any type, layout and padding. */
void gpusComputeWhatProfilesAskFor() {
  EXPECT(refusal(gpuConfig()).empty());
  Config grouped = gpuConfig();
  grouped.kvHeads = 2;
  grouped.headDim = 64;
  EXPECT(refusal(grouped).empty());
  EXPECT(!keepsLseApart(grouped) && kernelLseBytes(grouped, Shape(grouped), 3) == 0);
  Config apart = gpuConfig();
  apart.lseLayout = LseLayout::requests;
  EXPECT(refusal(apart).empty() && !keepsLseApart(apart));
  apart.qLen = 2;
  EXPECT(refusal(apart).empty() && keepsLseApart(apart));
  apart.paddedHeads = 64;
  apart.lseBf16 = true;
  EXPECT(refusal(apart).empty());
  EXPECT(kernelLseBytes(apart, Shape(apart), 3) == 3 * 64 * 2);
  Config drafting = gpuConfig();
  drafting.draft = true;
  EXPECT(refusal(drafting).empty());
  Config anew = gpuConfig();
  anew.restarts = true;
  EXPECT(refusal(anew).empty());
  anew.topk = 4;
  EXPECT(refusal(anew) == "restarts: go with dense attention");
}

}  // namespace

void configs() { gpusComputeWhatProfilesAskFor(); }

}  // namespace dcpscope::tests
