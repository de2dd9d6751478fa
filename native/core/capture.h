#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/config.h"

namespace dcpscope {

enum class DumpType { f64, f32, bf16, i32, i64, e4m3, u8 };
const char* name(DumpType type);
int bytesOf(DumpType type);

/** One tensor of the dump format. */
struct Tensor {
  const char* name;
  DumpType type;
  std::vector<int64_t> shape;
  std::vector<unsigned char> data;
};

/** Tensors of one (step, layer) of one rank; rank -1 is the reference. */
struct Capture {
  int step;
  int layer;
  int rank;
  std::vector<Tensor> tensors;
  std::string leftOut;
};

/** Pages of all ranks together above this are left out of a capture. */
constexpr int64_t kMaxCapturedPages = int64_t{64} << 20;

/** Layers of a captured step, ascending, each once. */
std::vector<int> capturedLayers(const Config& config);

/** Zeroed tensor. */
Tensor makeTensor(const char* name, DumpType type, std::vector<int64_t> shape);

/** How pages of a cache are captured: rows of fp8_ds_mla as their bytes. */
DumpType dumpTypeOf(KvType type);

/** Bytes that the captures of one step take, with the reference. */
int64_t captureBytes(const Config& config, const Shape& shape);

}  // namespace dcpscope
