#include <string>

#include "core/config.h"
#include "core/error.h"
#include "core/faults.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

Fault gap(uint64_t ranks, std::vector<int> layers, std::vector<int> steps, int64_t amount) {
  return {FaultKind::coverageGap, ranks, std::move(layers), std::move(steps), 0, amount};
}

void namesAreOfKinds() {
  EXPECT(faultKind("coverage-gap") == FaultKind::coverageGap);
  EXPECT(faultKind("lse-base-mismatch") == FaultKind::lseBaseMismatch);
  EXPECT(!faultKind("coverage"));
}

void faultsActWhereTheySay() {
  const Faults none({});
  EXPECT(none.at(FaultKind::coverageGap, 0, 0, 0) == nullptr);
  const Faults faults({gap(0b101, {}, {3}, 1), gap(0b100, {1}, {}, 2)});
  EXPECT(faults.at(FaultKind::lseBaseMismatch, 0, 0, 3) == nullptr);
  EXPECT(faults.at(FaultKind::coverageGap, 0, 0, 3)->amount == 1);
  EXPECT(faults.at(FaultKind::coverageGap, 0, 0, 2) == nullptr);
  EXPECT(faults.at(FaultKind::coverageGap, 1, 0, 3) == nullptr);
  // The last one of two that act counts.
  EXPECT(faults.at(FaultKind::coverageGap, 2, 1, 3)->amount == 2);
  EXPECT(faults.at(FaultKind::coverageGap, 2, 0, 3)->amount == 1);
  EXPECT(faults.at(FaultKind::coverageGap, 2, kAllLayers, 3)->amount == 1);
  const Faults last({gap(uint64_t{1} << 63, {}, {}, 1)});
  EXPECT(last.at(FaultKind::coverageGap, 63, 0, 0) != nullptr);
}

void gpusRefuseFaults() {
  Config config;
  config.contextLens = {8};
  config.faults = {gap(1, {}, {}, 1)};
  validate(config);
  config.cuda = true;
  std::string said;
  try {
    validate(config);
  } catch (const EngineError& error) {
    said = error.what();
  }
  EXPECT(said == "faults: are injected on the CPU only");
}

}  // namespace

void faults() {
  namesAreOfKinds();
  faultsActWhereTheySay();
  gpusRefuseFaults();
}

}  // namespace dcpscope::tests
