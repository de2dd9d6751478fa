#include "cuda/host_tests/fault_tests.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/bf16.h"
#include "core/stale.h"
#include "cpu/group.h"
#include "cuda/host_tests/stand_in.h"
#include "cuda/run/group.h"
#include "run/run.h"
#include "tests/expect.h"

namespace dcpscope::cuda::host_tests {
namespace {

constexpr int kSteps = 4;
constexpr int kLayers = 2;

Config base() {
  Config c;
  c.ranks = 3;
  c.heads = 6;
  c.kvLoraRank = 32;
  c.ropeDim = 16;
  c.layers = kLayers;
  c.pageSize = 4;
  c.interleave = 2;
  c.contextLens = {45, 0, 9, 1, 22};
  c.qLen = 2;
  c.acceptedPerStep = 2;
  c.steps = kSteps;
  c.warmup = 1;
  c.checkRows = 0;
  c.captureLayers = {1};
  for (int step = 0; step < kSteps; ++step) c.captureSteps.push_back(step);
  return c;
}

Config onGpu(Config c, bool graph) {
  c.cuda = true;
  c.graph = graph;
  return c;
}

Fault fault(FaultKind kind, int variant = 0, int64_t amount = 0) {
  return {kind, 0b101, {}, {}, variant, amount};
}

std::vector<Capture> capturesOf(const Config& config) {
  const Gpu gpu(0);
  Run run(config, config.cuda ? static_cast<const dcpscope::Device&>(gpu) : cpuDevice());
  run.arm();
  while (run.fill(20) < 1);
  std::vector<Capture> all;
  for (AdvanceResult result{}; !result.finished;) {
    result = run.advance(1 << 20, 50, 0);
    for (Capture& capture : run.takeCaptures()) all.push_back(std::move(capture));
    EXPECT(!result.ringsFull || !all.empty());
    for (const NamedRing& named : run.rings()) named.ring->discard(named.ring->size());
  }
  return all;
}

const Tensor& tensorOf(const Capture& capture, const char* name) {
  const auto found = std::find_if(capture.tensors.begin(), capture.tensors.end(),
                                  [&](const Tensor& tensor) { return std::strcmp(tensor.name, name) == 0; });
  EXPECT(found != capture.tensors.end());
  return *found;
}

/** In a process of its own, since devices leave threads behind. */
void apart(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/** Kernels of each rank are handed what the engine for CPUs hands to its own, in each step. */
void expectSameMetadata(const Config& config) {
  const std::vector<Capture> expected = capturesOf(config);
  for (const bool graph : {false, true}) {
    const std::vector<Capture> captures = capturesOf(onGpu(config, graph));
    EXPECT(captures.size() == expected.size());
    for (size_t i = 0; i < captures.size(); ++i) {
      EXPECT(captures[i].rank == expected[i].rank && captures[i].step == expected[i].step &&
             captures[i].layer == expected[i].layer);
      if (captures[i].rank < 0) continue;
      for (const char* name : {"seq_lens_global", "seq_lens_local", "block_table", "slot_mapping"}) {
        const Tensor& own = tensorOf(captures[i], name);
        const Tensor& other = tensorOf(expected[i], name);
        if (own.shape == other.shape && own.data == other.data) continue;
        std::fprintf(stderr, "%s of rank %d in layer %d of step %d, %s\n", name, captures[i].rank,
                     captures[i].layer, captures[i].step, graph ? "graph" : "eager");
        EXPECT(false);
      }
    }
  }
}

void metadataAreThoseOfTheCpu() {
  using enum FaultKind;
  Fault stale = fault(staleGraphMetadata, kStaleBoth);
  stale.steps = {1, 3};
  const std::vector<Fault> faults = {
      fault(causalEndAligned, kCausalHides),
      fault(coverageGap, kGapOfTokens, 2),
      fault(interleaveMismatch, kInterleaveOfLengths, 1),
      fault(interleaveMismatch, kInterleaveOfCache, 4),
      fault(lengthViewsSwapped, kGlobalForLocal),
      fault(lengthViewsSwapped, kLocalForGlobal),
      fault(pageTableNotLocal),
      fault(slotMapIgnoresDcp),
      fault(staleGraphMetadata, kStaleLengths),
      fault(staleGraphMetadata, kStalePages),
      stale,
      fault(tableWidthMismatch, kTableNarrow),
      fault(tableWidthMismatch, kTableStretched),
  };
  for (const Fault& one : faults) {
    Config config = base();
    config.faults = {one};
    expectSameMetadata(config);
  }
  Config overlap = base();
  overlap.qLen = overlap.acceptedPerStep = 1;
  overlap.faults = {fault(coverageOverlap)};
  expectSameMetadata(overlap);
}

/** Generated tokens begin again at rank 0, with metadata that a kernel makes and such as are handed over. */
void tokensAreDealtOutAnewAsOnTheCpu() {
  using enum FaultKind;
  for (const int qLen : {1, 3})
    for (const std::vector<Fault>& faults :
         {std::vector<Fault>{}, {fault(slotMapIgnoresDcp)}, {fault(coverageGap, kGapOfTokens, 1)}}) {
      Config config = base();
      config.restarts = true;
      config.qLen = config.acceptedPerStep = qLen;
      config.steps = 15;
      config.captureSteps = {0, 1, 2, 6, 14};
      config.faults = faults;
      expectSameMetadata(config);
    }
}

Config drafting() {
  Config config = base();
  config.draft = true;
  config.acceptedPerStep = 1;
  config.captureLayers = {1, kLayers};
  return config;
}

Fault ofDraft(Fault fault) {
  fault.draft = true;
  return fault;
}

/** A draft has pages and a branch of its own, which faults of one of the two leave to the other. */
void aDraftIsHandedItsOwn() {
  using enum FaultKind;
  Fault stale = fault(staleGraphMetadata, kStaleBoth);
  stale.steps = {1, 3};
  const std::vector<std::vector<Fault>> all = {
      {},
      {ofDraft(stale)},
      {stale},
      {ofDraft(fault(slotMapIgnoresDcp))},
      {ofDraft(fault(lengthViewsSwapped, kGlobalForLocal)), fault(pageTableNotLocal)},
      {ofDraft(fault(interleaveMismatch, kInterleaveOfCache, 4)), ofDraft(fault(tableWidthMismatch))},
      {ofDraft(fault(staleGraphMetadata, kStaleLengths)), fault(coverageGap, kGapOfTokens, 2)},
  };
  for (const std::vector<Fault>& faults : all) {
    Config config = drafting();
    config.faults = faults;
    expectSameMetadata(config);
    config.restarts = true;
    expectSameMetadata(config);
  }
  Config shuffled = drafting();
  shuffled.shuffledPages = true;
  shuffled.contextLens.insert(shuffled.contextLens.end(), 3, 0);
  shuffled.padRequests = 3;
  shuffled.padLength = 1;
  expectSameMetadata(shuffled);
}

/** The batch of a graph with three requests that only pad it, with faults and without. */
Config padded(int length) {
  Config config = base();
  config.contextLens.insert(config.contextLens.end(), 3, 0);
  config.padRequests = 3;
  config.padLength = length;
  return config;
}

void paddingIsThatOfTheCpu() {
  for (const int length : {0, 1}) {
    Config config = padded(length);
    expectSameMetadata(config);
    config.faults = {fault(FaultKind::staleGraphMetadata)};
    expectSameMetadata(config);
  }
}

float valueAt(const Tensor& tensor, int64_t i) {
  if (tensor.type == DumpType::bf16)
    return fromBf16(reinterpret_cast<const uint16_t*>(tensor.data.data())[i]);
  return reinterpret_cast<const float*>(tensor.data.data())[i];
}

/** Rows of padding hold garbage on the ranks and in the layers that the fault names, and others do not. */
void paddingIsSpoilt() {
  Config config = padded(0);
  config.faults = {fault(FaultKind::padRowGarbage)};
  config.emptyRow = EmptyRow::unwritten;
  for (const bool graph : {false, true})
    for (const Capture& capture : capturesOf(onGpu(config, graph))) {
      if (capture.rank < 0) continue;
      const Tensor& out = tensorOf(capture, "out_kernel");
      const Tensor& lse = tensorOf(capture, "lse_kernel");
      const int64_t batch = int64_t{5} * config.qLen * config.heads;
      const bool spoilt = capture.rank != 1;
      for (const int64_t row : {batch, lse.shape[0] * lse.shape[1] - 1}) {
        const float value = valueAt(out, row * out.shape[2]);
        EXPECT(spoilt ? std::isnan(value) : value == kStaleOut);
        EXPECT(valueAt(lse, row) == kStaleLse);
      }
      // The kernel that stands in writes nothing but its first value.
      EXPECT(valueAt(out, batch * out.shape[2] - 1) == kStaleOut);
    }
}

/** A fault of some steps has a graph of its own for those, and is in no other step. */
void graphsAreThoseOfTheFaultsThatAct() {
  for (const bool graph : {false, true}) {
    Config config = base();
    config.comm = Comm::p2p;
    config.captureSteps = {};
    Fault base2 = fault(FaultKind::lseBaseMismatch);
    base2.steps = {1, 3};
    Fault alike = fault(FaultKind::lseDropped);
    alike.steps = {3};
    config.faults = {base2, alike};
    static_cast<void>(capturesOf(onGpu(config, graph)));
    // Two ranks. A graph is captured behind one execution of its step.
    const uint64_t once = 2 * kLayers;
    EXPECT(readings().otherBase.exchange(0) == once * (graph ? 4 : 2));
    EXPECT(readings().alike.exchange(0) == once * (graph ? 2 : 1));
  }
}

/** The graphs of the draft are those of the draft's faults, whatever those of the model are. */
void graphsOfADraftAreItsOwn() {
  for (const bool graph : {false, true}) {
    Config config = drafting();
    config.comm = Comm::p2p;
    config.captureSteps = {};
    Fault base2 = ofDraft(fault(FaultKind::lseBaseMismatch));
    base2.steps = {1, 3};
    Fault alike = fault(FaultKind::lseDropped);
    alike.steps = {3};
    config.faults = {base2, alike};
    static_cast<void>(capturesOf(onGpu(config, graph)));
    // Two ranks. The draft's graph of step 1 does for step 3, where the model's is captured behind a whole
    // step.
    EXPECT(readings().otherBase.exchange(0) == (graph ? 2U * 4 : 2U * 2));
    EXPECT(readings().alike.exchange(0) == (graph ? 2U * 2 * kLayers : 2U * kLayers));
  }
}

}  // namespace

void faultsActOnGpus() {
  apart(metadataAreThoseOfTheCpu);
  apart(tokensAreDealtOutAnewAsOnTheCpu);
  apart(aDraftIsHandedItsOwn);
  apart(paddingIsThatOfTheCpu);
  apart(paddingIsSpoilt);
  apart(graphsAreThoseOfTheFaultsThatAct);
  apart(graphsOfADraftAreItsOwn);
}

}  // namespace dcpscope::cuda::host_tests
