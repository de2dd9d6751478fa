#include <cstdlib>
#include <string>
#include <vector>

#include "cuda/run/cupti_library.h"
#include "cuda/run/device_ops.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

using cuda::CuptiLibrary;
using cuda::DeviceOp;
using cuda::Hull;
using cuda::Lanes;
using cuda::OpKind;
using cuda::OpKinds;
using cuda::PlacedOp;
using cuda::Work;

/** What the device's clock is ahead of the recorder's here. */
constexpr uint64_t kAhead = 5'000'000;

Config config(Comm comm, int ranks) {
  Config c;
  c.ranks = c.heads = ranks;
  c.comm = comm;
  c.layers = 2;
  c.contextLens = {100};
  return c;
}

/** A step as device and recorder see it: each kernel begins 3 ns before its first stamp and ends 1 ns after
 * its last. */
struct Recorded {
  std::vector<Work> order;
  std::vector<OpKinds> kinds;
  std::vector<Hull> hulls;
  std::vector<DeviceOp> ops;
  Lanes lanes;
};

DeviceOp op(OpKind kind, uint64_t start, uint64_t end) {
  DeviceOp made;
  made.kind = kind;
  made.start = start;
  made.end = end;
  return made;
}

/** `twoKernels`: attention is followed by a combine that is a kernel; `laysOut`: and by one that lays out its
 * lse, which moves the end of the combine; `copies`: and a copy for a capture. */
Recorded record(const Config& c, bool twoKernels, bool copies, bool laysOut = false) {
  Recorded r;
  r.order = cuda::workOrder(c);
  uint64_t now = 10'000'000;
  const auto add = [&](OpKind kind, OpKinds& kinds) {
    kinds.push_back(kind);
    r.ops.push_back(op(kind, now - 3 - kAhead, now + 20 + 1 - kAhead));
    const Hull hull{now, now + 20};
    now += 30;
    return hull;
  };
  for (size_t i = 0; i < r.order.size(); ++i) {
    r.kinds.emplace_back();
    if (r.order[i].stage == Stage::splitCombine) {
      if (!twoKernels) r.hulls.push_back({});
      continue;
    }
    r.hulls.push_back(add(OpKind::kernel, r.kinds[i]));
    if (r.order[i].stage != Stage::decodeAttn) continue;
    if (twoKernels) r.hulls.push_back(add(OpKind::kernel, r.kinds[i]));
    if (laysOut) r.hulls.back().end = add(OpKind::kernel, r.kinds[i]).end;
    if (copies) add(OpKind::copy, r.kinds[i]);
  }
  r.lanes = cuda::makeLanes(r.order, r.hulls, std::vector<bool>(r.order.size(), false), c.ranks);
  return r;
}

std::optional<cuda::PlacedOps> place(const Recorded& r) {
  return cuda::placeOps(r.order, r.kinds, r.hulls, r.lanes, r.ops);
}

void everyKernelLiesWithItsStage() {
  for (const Comm comm : {Comm::agRs, Comm::a2a})
    for (const int ranks : {1, 2, 5}) {
      const Recorded r = record(config(comm, ranks), false, false);
      const auto placed = place(r);
      EXPECT(placed && placed->ops.size() == r.ops.size());
      // Stamps leave 3 ns before and 1 ns after: what is unknown is 4 ns wide.
      EXPECT(placed->uncertaintyNs == 2);
      for (const PlacedOp& at : placed->ops) {
        const Work& work = r.order[static_cast<size_t>(at.work)];
        EXPECT(at.stage == work.stage);
        EXPECT(std::abs(at.start + 3 - r.lanes.begins[static_cast<size_t>(at.work)]) <=
               placed->uncertaintyNs);
      }
    }
}

void aKernelThatCombinesIsOfThatStage() {
  for (const bool laysOut : {false, true}) {
    const Recorded r = record(config(Comm::agRs, 2), true, true, laysOut);
    const auto placed = place(r);
    EXPECT(placed);
    int attending = 0;
    int combining = 0;
    int copies = 0;
    for (const PlacedOp& at : placed->ops) {
      const bool kernel = r.ops[static_cast<size_t>(at.op)].kind == OpKind::kernel;
      if (at.stage == Stage::decodeAttn) ++(kernel ? attending : copies);
      if (at.stage == Stage::splitCombine) combining += kernel ? 1 : 100;
    }
    EXPECT(attending == 2 * 2 && combining == (laysOut ? 2 : 1) * 2 * 2 && copies == 2 * 2);
  }
}

void whatIsNotOfTheStepIsLeftOut() {
  Recorded r = record(config(Comm::agRs, 2), false, false);
  const size_t own = r.ops.size();
  r.ops.insert(r.ops.begin(), op(OpKind::fill, 1, 2));
  r.ops.push_back(op(OpKind::copy, r.ops.back().end + 10, r.ops.back().end + 20));
  const auto placed = place(r);
  EXPECT(placed && placed->ops.size() == own && placed->ops.front().op == 1);
}

void missingRecordsAreNoticed() {
  Recorded r = record(config(Comm::a2a, 2), false, false);
  EXPECT(cuda::countOps(r.kinds) == static_cast<int64_t>(r.ops.size()));
  r.ops.pop_back();
  EXPECT(!place(r));
  r.ops.clear();
  EXPECT(!place(r));
}

void namesAreReadable() {
  EXPECT(cuda::readableName("_ZN8dcpscope4cuda6attendEi") == "dcpscope::cuda::attend(int)");
  EXPECT(cuda::readableName("memcpy device to host") == "memcpy device to host");
}

void aMissingCuptiSaysWhatToInstall() {
  const CuptiLibrary library({"libnot-there.so.13", "/not/there/libcupti.so"});
  EXPECT(library.problem().find("install the package cuda-cupti") != std::string::npos);
  EXPECT(library.problem().find('\n') == std::string::npos && library.find("cuptiGetVersion") == nullptr);
}

void cuptiIsLookedForInOrder() {
  unsetenv("DCPSCOPE_CUPTI");
  setenv("CUDA_HOME", "/opt/cuda", 1);
  const std::vector<std::string> all = cuda::cuptiCandidates();
  EXPECT(all.size() == 10 && all[0] == "libcupti.so.13" && all[1] == "libcupti.so.12");
  EXPECT(all[2] == "/opt/cuda/lib64/libcupti.so.13" &&
         all[4] == "/opt/cuda/extras/CUPTI/lib64/libcupti.so.13");
  EXPECT(all[9] == "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12");
  setenv("DCPSCOPE_CUPTI", "/my/libcupti.so", 1);
  EXPECT(cuda::cuptiCandidates() == std::vector<std::string>{"/my/libcupti.so"});
  EXPECT(CuptiLibrary(cuda::cuptiCandidates()).problem().find("DCPSCOPE_CUPTI names /my/libcupti.so") !=
         std::string::npos);
  unsetenv("DCPSCOPE_CUPTI");
}

}  // namespace

void deviceOps() {
  everyKernelLiesWithItsStage();
  aKernelThatCombinesIsOfThatStage();
  whatIsNotOfTheStepIsLeftOut();
  missingRecordsAreNoticed();
  namesAreReadable();
  aMissingCuptiSaysWhatToInstall();
  cuptiIsLookedForInOrder();
}

}  // namespace dcpscope::tests
