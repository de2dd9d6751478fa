#include "core/capture.h"

#include <algorithm>

namespace dcpscope {

const char* name(DumpType type) {
  switch (type) {
    case DumpType::f64:
      return "F64";
    case DumpType::f32:
      return "F32";
    case DumpType::bf16:
      return "BF16";
    case DumpType::i32:
      return "I32";
    case DumpType::i64:
      return "I64";
    case DumpType::e4m3:
      return "F8_E4M3";
    case DumpType::u8:
      return "U8";
  }
  return "";
}

int bytesOf(DumpType type) {
  switch (type) {
    case DumpType::f64:
    case DumpType::i64:
      return 8;
    case DumpType::f32:
    case DumpType::i32:
      return 4;
    case DumpType::bf16:
      return 2;
    case DumpType::e4m3:
    case DumpType::u8:
      return 1;
  }
  return 8;
}

Tensor makeTensor(const char* name, DumpType type, std::vector<int64_t> shape) {
  int64_t bytes = bytesOf(type);
  for (const int64_t extent : shape) bytes *= extent;
  return Tensor{name, type, std::move(shape), std::vector<unsigned char>(static_cast<size_t>(bytes))};
}

std::vector<int> capturedLayers(const Config& config) {
  std::vector<int> layers = config.captureLayers;
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  return layers;
}

DumpType dumpTypeOf(KvType type) {
  switch (type) {
    case KvType::fp32:
      return DumpType::f32;
    case KvType::bf16:
      return DumpType::bf16;
    case KvType::fp8:
      return DumpType::e4m3;
    case KvType::fp8DsMla:
      return DumpType::u8;
  }
  return DumpType::u8;
}

int64_t captureBytes(const Config& config, const Shape& shape) {
  if (config.captureSteps.empty()) return 0;
  const int64_t rows = static_cast<int64_t>(shape.tokens) * config.heads;
  const int64_t lse = rows * 2 * 4;
  const int64_t values = rows * (shape.keyDim + 2 * shape.valueDim) + rows / config.ranks * shape.valueDim;
  const int64_t tables =
      shape.requests * (shape.columns * (config.faults.empty() ? 1 : config.ranks) * 4 + 12) +
      shape.tokens * 8;
  const int64_t perRank = values * shape.valueBytes + lse + tables + shape.pagesNeeded * 4 +
                          static_cast<int64_t>(shape.tokens) * config.topk * 12;
  const int64_t pages =
      static_cast<int64_t>(config.ranks) * shape.pagesNeeded * config.pageSize * shape.cacheRowBytes;
  const int64_t reference = rows * (shape.valueDim + 1) * 8;
  const int64_t layer = config.ranks * perRank + std::min(pages, kMaxCapturedPages) + reference;
  // Once here and once as JavaScript buffers.
  return 2 * static_cast<int64_t>(capturedLayers(config).size()) * layer;
}

}  // namespace dcpscope
