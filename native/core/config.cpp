#include "core/config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/branch.h"
#include "core/deal.h"
#include "core/error.h"
#include "core/generate.h"
#include "core/quantise.h"

namespace dcpscope {
namespace {

constexpr int64_t kMaxContext = 1 << 24;

int cacheRowBytesOf(KvType type, int keyDim) {
  switch (type) {
    case KvType::fp32:
      return 4 * keyDim;
    case KvType::bf16:
      return 2 * keyDim;
    case KvType::fp8:
      return keyDim;
    case KvType::fp8DsMla:
      return dsmla::kRowBytes;
  }
  return 0;
}

void rule(bool holds, const char* field, const std::string& what) {
  if (!holds) throw EngineError(ErrorCode::config, std::string(field) + ": " + what);
}

void range(int64_t value, int64_t least, int64_t most, const char* field) {
  rule(value >= least && value <= most, field,
       "must be " + std::to_string(least) + " to " + std::to_string(most) + ", got " + std::to_string(value));
}

void multiple(int64_t value, int64_t of, const char* field) {
  rule(value % of == 0, field,
       "must be a multiple of " + std::to_string(of) + ", got " + std::to_string(value));
}

void validateShape(const Config& c) {
  range(c.ranks, 1, 64, "ranks");
  range(c.heads, 1, 128, "heads");
  multiple(c.heads, c.ranks, "heads");
  rule(c.paddedHeads == 0 || (c.paddedHeads >= c.heads && c.paddedHeads <= 128), "paddedHeads",
       "must be 0, or at least heads and at most 128, got " + std::to_string(c.paddedHeads));
  range(c.kvLoraRank, 16, 512, "kvLoraRank");
  multiple(c.kvLoraRank, 16, "kvLoraRank");
  range(c.ropeDim, 0, 256, "ropeDim");
  multiple(c.ropeDim, 16, "ropeDim");
  range(c.kvHeads, 0, c.heads, "kvHeads");
  if (c.kvHeads > 0) {
    rule(c.heads % c.kvHeads == 0, "kvHeads", "must divide heads, got " + std::to_string(c.kvHeads));
    range(c.headDim, 16, 512, "headDim");
    multiple(c.headDim, 16, "headDim");
    rule(c.kvType != KvType::fp8DsMla, "kvDtype", "fp8_ds_mla keeps no KV heads");
  }
  range(c.layers, 1, 512, "layers");
  rule(std::isfinite(c.softmaxScale) && c.softmaxScale > 0 && c.softmaxScale <= 1000, "softmaxScale",
       "must be above 0 and at most 1000");
  range(c.pageSize, 1, 1024, "pageSize");
  range(c.interleave, 1, 1024, "interleave");
  rule(c.pageSize % c.interleave == 0, "interleave", "must divide pageSize");
}

void validateWork(const Config& c) {
  rule(c.kvType != KvType::fp8DsMla || (c.kvLoraRank == dsmla::kLatent && c.ropeDim == dsmla::kRope),
       "kvDtype", "fp8_ds_mla needs kvLoraRank 512 and ropeDim 64");
  range(c.topk, 0, 1 << 20, "topk");
  rule(!c.restarts || c.topk == 0, "restarts", "go with dense attention");
  range(c.poolTokens, 0, int64_t{1} << 40, "poolTokens");
  range(static_cast<int64_t>(c.contextLens.size()), 1, 1 << 20, "contextLens");
  for (const int64_t length : c.contextLens) range(length, 0, kMaxContext, "contextLens");
  range(c.qLen, 1, 8, "qLen");
  range(c.acceptedPerStep, 1, c.qLen, "acceptedPerStep");
  range(c.steps, 1, 1'000'000, "steps");
  range(c.warmup, 0, 10'000, "warmup");
  range(c.restOfLayerBytes, 0, int64_t{1} << 40, "restOfLayerBytes");
  rule(c.restOfLayerFlops == 0 || c.restOfLayerBytes > 0, "restOfLayerFlops", "needs restOfLayerBytes");
  rule(!c.graph || c.cuda, "graph", "needs the device cuda");
  range(c.padRequests, 0, static_cast<int64_t>(c.contextLens.size()) - 1, "padRequests");
  range(c.padLength, 0, 1, "padLength");
  range(c.restOfLayerFlops, 0, int64_t{1} << 50, "restOfLayerFlops");
  range(c.checkRows, kCheckAll, 1 << 20, "checkRows");
  for (const int step : c.captureSteps) range(step, 0, c.steps - 1, "captureSteps");
  rule(c.kernelSteps.empty() || c.cuda, "kernelSteps", "needs the device cuda");
  for (const int step : c.kernelSteps) range(step, 0, c.steps - 1, "kernelSteps");
  for (const int layer : c.captureLayers) range(layer, 0, allLayers(c) - 1, "captureLayers");
}

/** Whether each KV head has as many query heads also where those of one rank are counted. */
bool headsDealOut(const Config& c) {
  const int together = std::max(1, c.heads / c.ranks / std::max(1, c.kvHeads));
  return c.kvHeads == 0 || c.heads % (together * c.kvHeads) == 0;
}

void validateFaults(const Config& c) {
  range(static_cast<int64_t>(c.faults.size()), 0, 64, "faults");
  for (const Fault& fault : c.faults) {
    rule(fault.kind != FaultKind::headOrderPermuted || !c.cuda || !c.processes || c.comm == Comm::p2p,
         "faults", "head-order-permuted of ranks with GPUs of their own needs comm p2p");
    rule(fault.kind != FaultKind::gqaHeadMapLocal || !c.cuda || headsDealOut(c), "faults",
         "gqa-head-map-local on a GPU needs as many heads of each KV head");
    rule(fault.ranks != 0, "faults", "must name a rank");
    rule(c.ranks == 64 || fault.ranks >> c.ranks == 0, "faults",
         "must name ranks below ranks (" + std::to_string(c.ranks) + ")");
    rule(fault.kind != FaultKind::interleaveMismatch || (fault.amount >= 1 && c.pageSize % fault.amount == 0),
         "faults", "another interleave must divide pageSize");
    rule(fault.kind != FaultKind::kvLayoutMismatch ||
             isQuantisedRow(cacheRowBytesOf(c.kvType, c.kvLoraRank + c.ropeDim)),
         "faults", "rows of the cache must have 576 or 656 bytes to be taken for the others");
    rule(!fault.draft || c.draft, "faults", "can act on a draft only where there is one");
    rule(!fault.draft || fault.layers.empty(), "faults", "must name no layers of a draft, which has one");
    range(fault.amount, 0, kMaxContext, "faults");
    for (const int layer : fault.layers) range(layer, 0, c.layers - 1, "faults");
    for (const int step : fault.steps) range(step, 0, c.steps - 1, "faults");
  }
}

/** The field that a pool's size comes from. */
const char* poolField(const Config& c) { return c.poolTokens > 0 ? "poolTokens" : "contextLens"; }

/** Sums of bytes that no machine has must not overflow before they are compared with what it has. */
void validatePools(const Config& c) {
  constexpr double kMostBytes = 0x1p60;
  const Shape s(c);
  const double bytes = static_cast<double>(s.poolBytes(c)) * c.ranks * allLayers(c);
  rule(bytes <= kMostBytes, poolField(c), "the pools of all ranks and layers must be at most 2^60 bytes");
}

}  // namespace

void validate(const Config& config) {
  validateShape(config);
  validateWork(config);
  validateFaults(config);
  validatePools(config);
}

bool keepsLseApart(const Config& c) {
  return !isTokens(c.lseLayout, c.qLen) || c.lseBf16 || c.paddedHeads > c.heads ||
         contains(c.faults, FaultKind::lseLayoutTransposed);
}

int64_t kernelLseBytes(const Config& c, const Shape& s, int64_t tokens) {
  return keepsLseApart(c) ? tokens * s.kernelHeads * (c.lseBf16 ? 2 : 4) : 0;
}

float kvScale(const Config& config) { return config.kvType == KvType::fp8 ? fp8Scale(config.needles) : 1.0F; }

void requireAddressablePool(const Config& config, const Shape& shape) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  const char* field = poolField(config);
  rule(shape.poolPages <= most, field, "the pool of a rank has at most 2^31 - 1 pages");
  rule((!config.cuda && config.topk == 0) || shape.poolPages * config.pageSize <= most, field,
       "the pool of a rank holds at most 2^31 - 1 tokens on a GPU and with sparse attention, got " +
           std::to_string(shape.poolPages * config.pageSize) + "; use more ranks or less context");
}

Shape::Shape(const Config& c)
    : requests(static_cast<int>(c.contextLens.size())),
      tokens(requests * c.qLen),
      batchTokens(batchRequests(c) * c.qLen),
      keyDim(keyDimOf(c)),
      valueDim(valueDimOf(c)),
      headsPerRank(c.heads / c.ranks),
      kernelHeads(c.paddedHeads == 0 ? c.heads : c.paddedHeads),
      rowsPerRequest(c.qLen * c.heads),
      valueBytes(c.kvType == KvType::fp32 ? 4 : 2),
      wireBytes(c.wireFp32 ? 4 : valueBytes),
      cacheRowBytes(cacheRowBytesOf(c.kvType, keyDim) * cachedRows(c.kvHeads)),
      cacheParts(cachedRows(c.kvHeads)),
      groupHeads(c.heads / std::max(c.kvHeads, 1)),
      cellBegin(c.contextLens.size() + 1, 0),
      columns(0),
      pagesNeeded(0),
      poolPages(0) {
  for (size_t r = 0; r < c.contextLens.size(); ++r) {
    const auto request = static_cast<int>(r);
    const int64_t width = dealOf(c, request).columns(lastLength(c, request), c.pageSize);
    cellBegin[r + 1] = cellBegin[r] + width;
    columns = std::max(columns, width);
  }
  pagesNeeded = cellBegin.back();
  poolPages = c.poolTokens == 0 ? pagesNeeded : c.poolTokens / c.pageSize;
}

}  // namespace dcpscope
