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
  // What acts on the draft does not act on the model, and the reverse.
  Fault ofDraft = gap(1, {}, {}, 3);
  ofDraft.draft = true;
  const Faults both({gap(1, {0}, {}, 1), ofDraft});
  EXPECT(both.at(FaultKind::coverageGap, 0, kDraftLayer, 0)->amount == 3);
  EXPECT(both.at(FaultKind::coverageGap, 0, 0, 0)->amount == 1);
  EXPECT(both.at(FaultKind::coverageGap, 0, kAllLayers, 0) == nullptr);
  const Faults last({gap(uint64_t{1} << 63, {}, {}, 1)});
  EXPECT(last.at(FaultKind::coverageGap, 63, 0, 0) != nullptr);
}

std::string refusal(const Config& config) {
  try {
    validate(config);
  } catch (const EngineError& error) {
    return error.what();
  }
  return "";
}

void gpusRefuseSomeFaults() {
  Config config;
  config.ranks = config.heads = 2;
  config.contextLens = {8};
  config.cuda = true;
  config.faults = {gap(1, {}, {}, 1)};
  EXPECT(refusal(config).empty());
  config.faults[0].kind = FaultKind::gqaHeadMapLocal;
  config.heads = 10;
  config.kvHeads = 2;
  config.headDim = 64;
  EXPECT(refusal(config) == "faults: gqa-head-map-local on a GPU needs as many heads of each KV head");
  config.heads = 8;
  EXPECT(refusal(config).empty());
  config.kvHeads = 0;
  config.processes = true;
  config.faults[0].kind = FaultKind::headOrderPermuted;
  EXPECT(refusal(config) == "faults: head-order-permuted of ranks with GPUs of their own needs comm p2p");
  config.comm = Comm::p2p;
  EXPECT(refusal(config).empty());
}

/** Steps of the same set replay the same graph. */
void faultsSayInWhichStepsOtherKernelsRun() {
  Fault base = gap(1, {}, {2}, 0);
  base.kind = FaultKind::lseBaseMismatch;
  Fault empty = gap(1, {}, {}, 1);
  empty.variant = kGapOfRank;
  const Faults faults({gap(1, {}, {}, 1), base, empty});
  EXPECT(faults.launchedIn(1, false) == 0b100 && faults.launchedIn(1, true) == 0);
  EXPECT(faults.launchedIn(2, false) == 0b110);
  EXPECT(Faults({}).launchedIn(0, false) == 0);
  base.draft = true;
  const Faults one({empty, base});
  EXPECT(one.launchedIn(2, false) == 0b01 && one.launchedIn(2, true) == 0b10);
  EXPECT(one.launchedIn(1, true) == 0);
}

}  // namespace

void faults() {
  namesAreOfKinds();
  faultsActWhereTheySay();
  gpusRefuseSomeFaults();
  faultsSayInWhichStepsOtherKernelsRun();
}

}  // namespace dcpscope::tests
