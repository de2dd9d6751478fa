#include "cuda/run/sizes.h"

#include <algorithm>

#include "core/branch.h"
#include "core/capture.h"
#include "core/generate.h"
#include "core/metadata.h"
#include "cuda/ops/neutralize.h"
#include "cuda/ops/rest_of_layer.h"
#include "cuda/run/timeline.h"

namespace dcpscope::cuda {
namespace {

int64_t aligned(int64_t bytes) {
  constexpr int64_t kAlign = 256;
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

/** The driver shares no less between processes; two allocations must not lie in one such piece. */
constexpr int64_t kSharedAlign = int64_t{2} << 20;

/** Lays parts behind each other. */
struct Packer {
  int64_t bytes = 0;
  int64_t add(int64_t size) {
    const int64_t at = bytes;
    bytes += aligned(size);
    return at;
  }
};

}  // namespace

bool handsMetadata(const Config& c) { return !c.faults.empty() || c.padRequests > 0; }

int paddedRequests(int requests, bool graph) {
  if (!graph) return requests;
  for (int size = 1; size < 8; size *= 2)
    if (requests <= size) return size;
  constexpr int kStep = 8;
  return (requests + kStep - 1) / kStep * kStep;
}

Sizes::Sizes(const Config& c, const Shape& s)
    : requests(paddedRequests(s.requests, c.graph)),
      tokens(requests * c.qLen),
      layers(allLayers(c)),
      branches(branchesOf(c)),
      ranks(c.processes ? 1 : c.ranks),
      madeHeads(c.processes && gathersQueries(c) ? s.headsPerRank : c.heads) {
  const int64_t T = tokens;
  const int64_t H = c.heads;
  const bool exchanges = hasTransport(c);
  const Means means = meansOf(c);
  const TransportShape transport = transportShape(c, s, *this);
  pool = aligned(s.poolPages * c.pageSize * s.cacheRowBytes);
  queries = aligned(T * H * s.keyDim * s.valueBytes);
  made = aligned(T * madeHeads * s.keyDim * s.valueBytes);
  keys = aligned(T * s.cacheParts * s.keyDim * s.valueBytes);
  ids = aligned(T * c.topk * 4);
  gathered = gathersQueries(c) ? queries : 0;
  slices = means == Means::nccl ? gathered : 0;
  out = exchanges ? aligned(T * H * s.valueDim * s.valueBytes) : 0;
  lse = aligned(T * H * 4);
  kernelLse = aligned(kernelLseBytes(c, s, T));
  const bool narrows = means == Means::nccl && s.wireBytes != s.valueBytes;
  switch (c.comm) {
    case Comm::agRs:
      wire = exchanges ? aligned(T * H * s.valueDim * s.wireBytes) : 0;
      received = exchanges && narrows ? aligned(T * s.headsPerRank * s.valueDim * s.wireBytes) : 0;
      break;
    case Comm::a2a:
      wire = received = exchanges ? aligned(c.ranks * messageBytes(transport)) : 0;
      break;
    case Comm::p2p:
      wire = received = 0;
  }
  slots = aligned(T * c.topk * 4);
  lses = exchanges && c.comm == Comm::agRs ? aligned(c.ranks * T * H * 4) : 0;
  merged = aligned(T * s.headsPerRank * s.valueDim * s.valueBytes);
  rest = restBufferBytes(c.restOfLayerBytes);

  Packer packer;
  shared = {};
  if (means == Means::peers) {
    shared.flags = packer.add(c.ranks * 4);
    shared.count = packer.add(static_cast<int64_t>(sizeof(PeerFlags::Count)));
    shared.out = packer.add(2 * out);
    shared.lse = packer.add(2 * lse);
    shared.queries = packer.add(gathersQueries(c) ? layers * made : 0);
  }
  shared.bytes = (packer.bytes + kSharedAlign - 1) / kSharedAlign * kSharedAlign;
  packer = {};
  frame.before = packer.add(static_cast<int64_t>(requests) * 8);
  frame.after = packer.add(static_cast<int64_t>(requests) * 8);
  branchPages = aligned(s.cells() * 4);
  frame.pages = packer.add(branches * branchPages);
  frame.bytes = packer.bytes;
  slotMapping = aligned(T * 8);
  tableBegin = aligned((requests + 1) * int64_t{8});
  prompts = c.restarts ? aligned(requests * int64_t{8}) : 0;
  packer = {};
  handed = {};
  if (handsMetadata(c)) {
    handed.lengths = packer.add(requests * int64_t{4});
    handed.keys = packer.add(requests * int64_t{4});
    handed.bounds = packer.add(T * 4);
    handed.columns = packer.add(requests * int64_t{4});
    handed.pages = packer.add(Metadata::cells(c, s) * 4);
    handed.slots = packer.add(slotMapping);
  }
  handed.bytes = packer.bytes;
  ruledBounds = c.faults.empty() ? 0 : aligned(T * 4);
  misread = contains(c.faults, FaultKind::kvLayoutMismatch) ? pool : 0;

  stats = c.rowStats ? ranks * layers * T * static_cast<int64_t>(sizeof(StatsRecord)) : 0;
  bounds = aligned(T * 4);
  packer = {};
  trace.stamps = packer.add(static_cast<int64_t>(workOrder(c, {0, ranks}).size()) * kStamps * sizeof(Stamp));
  trace.stats = packer.add(stats);
  trace.lengths = packer.add(ranks * branches * requests * 4);
  trace.bounds = packer.add(ranks * (c.topk > 0 ? branches + layers : branches) * bounds);
  trace.bytes = packer.bytes;

  packer = {};
  capture.q = packer.add(queries);
  capture.slots = packer.add(slots);
  capture.outKernel = packer.add(T * H * s.valueDim * s.valueBytes);
  capture.lseKernel = packer.add(keepsLseApart(c) ? kernelLse : lse);
  capture.out = packer.add(T * H * s.valueDim * s.valueBytes);
  capture.lse = packer.add(lse);
  capture.bytes = packer.bytes;
  capturedLayers = c.captureSteps.empty() ? 0 : static_cast<int>(dcpscope::capturedLayers(c).size());
}

LsePlace lsePlace(const Config& c, const Shape& s, const Sizes& sizes) {
  return {c.lseLayout, sizes.tokens, s.kernelHeads, c.qLen};
}

AttentionShape attentionShape(const Config& c, const Shape& s, const Sizes& sizes) {
  const bool portable = contains(c.faults, FaultKind::kvLayoutMismatch) ||
                        contains(c.faults, FaultKind::splitCounterUndersized);
  return {sizes.requests, c.qLen, c.heads,           s.keyDim,  s.valueDim, c.kvType,
          c.pageSize,     c.topk, s.valueBytes == 4, c.kvHeads, portable};
}

TransportShape transportShape(const Config& c, const Shape& s, const Sizes& sizes) {
  return {sizes.tokens,
          c.heads,
          c.ranks,
          s.valueDim,
          s.valueBytes == 4,
          s.wireBytes == 4,
          c.base2,
          c.zeroWeight == ZeroWeight::multiplied,
          c.allEmpty == AllEmpty::nan};
}

std::vector<MemoryComponent> components(const Config& c, const Sizes& z, int64_t workspace) {
  const int64_t ranks = z.ranks;
  const int64_t layers = z.layers;
  const int64_t perBranch = ranks * z.branches;
  const bool peers = z.shared.bytes > 0;
  const int64_t partials = peers ? z.shared.bytes : ranks * (z.out + z.lse);
  const int64_t made = peers && gathersQueries(c) ? 0 : layers * z.made;
  const auto device = [](const char* name, int64_t bytes) {
    return MemoryComponent{name, bytes, MemoryPlace::device};
  };
  return {
      device("kv_pages", ranks * layers * z.pool + z.misread),
      device("inputs", made + layers * (z.keys + z.ids + z.requests * static_cast<int64_t>(sizeof(Source)))),
      device("queries", z.gathered + z.slices),
      device("partials", partials + ranks * (z.kernelLse + z.wire + z.received) + z.lses),
      device("merged", layers * ranks * z.merged),
      device("page_tables",
             z.frame.bytes + z.tableBegin + z.prompts + perBranch * z.slotMapping + ranks * z.slots +
                 (z.handed.bytes > 0 ? perBranch * z.handed.bytes + z.branches * z.tableBegin : 0)),
      device("workspace", ranks * workspace + z.ruledBounds +
                              c.layers * ranks * z.tokens * static_cast<int64_t>(sizeof(NanCount))),
      device("trace", z.trace.bytes),
      device("rest_of_layer", z.rest),
      device("capture", z.capturedLayers * ranks * z.capture.bytes),
      {"pinned", z.frame.bytes + z.trace.bytes + perBranch * z.handed.bytes, MemoryPlace::pinned},
      {"metadata", z.handed.bytes > 0 ? perBranch * Metadata::bytes(c, Shape(c)) : 0}};
}

}  // namespace dcpscope::cuda
