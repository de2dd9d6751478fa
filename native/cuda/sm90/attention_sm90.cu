#include <algorithm>

#include "cuda/check.h"
#include "cuda/sm90/attention_sm90.h"
#include "cuda/sm90/kernels.h"
#include "cuda/sm90/tensor_map.h"

namespace dcpscope::cuda {
namespace {

constexpr double kLog2E = 1.44269504088896340736;

int deviceAttribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  cudaCheck(cudaGetDevice(&device), "looking up the device");
  cudaCheck(cudaDeviceGetAttribute(&value, attribute, device), "reading an attribute of the device");
  return value;
}

int64_t rounded(int64_t bytes) { return (bytes + 1023) / 1024 * 1024; }

class Sm90Attention : public Attention {
 public:
  explicit Sm90Attention(const AttentionShape& shape)
      : shape_(shape),
        rows_(shape.qLen * shape.heads),
        rowBlocks_((rows_ + kRows - 1) / kRows),
        parts_(std::max(deviceAttribute(cudaDevAttrMultiProcessorCount) / rowBlocks_, 1)),
        planBytes_(rounded(planBytes(shape.requests, parts_))),
        arrivalBytes_(rounded(static_cast<int64_t>(shape.requests) * rowBlocks_ * 4)),
        splitRows_(int64_t{2} * parts_ * rowBlocks_ * kRows) {}

  const char* name() const override { return "sm90"; }

  int64_t workspaceBytes() const override {
    return planBytes_ + arrivalBytes_ + rounded(splitRows_ * 4) + splitRows_ * kValueDim * 4;
  }

  void plan(void* workspace, const int32_t* lengths, cudaStream_t stream) override {
    makePlan(planView(workspace, shape_.requests, parts_), lengths, stream);
  }

  void run(void* workspace, const AttentionInputs& inputs, cudaStream_t stream) override {
    auto* at = static_cast<unsigned char*>(workspace);
    KernelArgs args{};
    args.inputs = inputs;
    args.plan = planView(at, shape_.requests, parts_);
    at += planBytes_;
    args.arrivals = reinterpret_cast<uint32_t*>(at);
    at += arrivalBytes_;
    args.splitLse = reinterpret_cast<float*>(at);
    at += rounded(splitRows_ * 4);
    args.splitOut = reinterpret_cast<float*>(at);
    args.lengths = inputs.lengths;
    args.rows = rows_;
    args.heads = shape_.heads;
    args.rowBlocks = rowBlocks_;
    args.pageSize = shape_.pageSize;
    args.scoreScale = static_cast<float>(inputs.softmaxScale * inputs.kvScale * kLog2E);
    args.outScale = inputs.kvScale;
    args.outFp32 = shape_.outFp32;
    KernelMaps maps{};
    const int64_t queryRows = static_cast<int64_t>(shape_.requests) * rows_;
    maps.queries = tensorMap(inputs.q, queryRows, kKeyDim, kRows);
    maps.keys = tensorMap(inputs.pool, inputs.poolPages * shape_.pageSize, kKeyDim,
                          std::min(shape_.pageSize, kTile));
    attendBoxes(args, maps, parts_ * rowBlocks_, stream);
  }

 private:
  const AttentionShape shape_;
  const int rows_;
  const int rowBlocks_;
  const int parts_;
  const int64_t planBytes_;
  const int64_t arrivalBytes_;
  const int64_t splitRows_;
};

bool boxesFit(int pageSize) {
  return pageSize % kTile == 0 || (kTile % pageSize == 0 && pageSize >= 8);
}

}  // namespace

std::string refusedBySm90(const AttentionShape& shape) {
  if (deviceAttribute(cudaDevAttrComputeCapabilityMajor) != 9) return "the GPU is not of compute capability 9.0";
  if (shape.keyDim != kKeyDim || shape.valueDim != kValueDim) return "it takes keys of 576 and values of 512";
  if (shape.kvType != KvType::bf16 || shape.topk > 0) return "kv";
  if (!boxesFit(shape.pageSize)) return "it takes pages of 8, 16, 32 or a multiple of 64 tokens";
  return "";
}

std::unique_ptr<Attention> createSm90(const AttentionShape& shape) {
  return std::make_unique<Sm90Attention>(shape);
}

}  // namespace dcpscope::cuda
