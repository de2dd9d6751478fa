#include <algorithm>
#include <cfloat>

#include "cuda/device.h"
#include "cuda/sm90/attention_sm90.h"
#include "cuda/sm90/compact.h"
#include "cuda/sm90/kernels.h"
#include "cuda/sm90/row_finder.cuh"
#include "cuda/sm90/tensor_map.h"

namespace dcpscope::cuda {
namespace {

constexpr double kLog2E = 1.44269504088896340736;

/** Places pieces of the workspace behind each other; with no memory it only counts. */
class Pieces {
 public:
  explicit Pieces(void* memory) : memory_(static_cast<unsigned char*>(memory)) {}

  template <class T>
  T* take(int64_t count) {
    constexpr int64_t kAlign = 1024;
    const int64_t at = used_;
    used_ += (count * static_cast<int64_t>(sizeof(T)) + kAlign - 1) / kAlign * kAlign;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + at);
  }

  int64_t used() const { return used_; }

 private:
  unsigned char* memory_;
  int64_t used_ = 0;
};

/** What lies in the workspace. */
struct Workspace {
  unsigned char* plan;
  uint32_t* arrivals;
  PartialRow* splitRows;
  PartialUnit* splitOut;
  /** Sparse: keys of each query token and their slots. */
  int32_t* counts;
  int32_t* slots;
  int64_t bytes;
};

/** Whether pageInverse() serves 2^24 keys. */
bool pagesCanBeFound(int pageSize) {
  constexpr int64_t kKeys = int64_t{1} << 24;
  constexpr int64_t kOne = int64_t{1} << 31;
  return (static_cast<int64_t>(pageInverse(pageSize)) * pageSize - kOne) * (kKeys - 1) < kOne;
}

bool boxesFit(int pageSize) { return pageSize % kTile == 0 || (kTile % pageSize == 0 && pageSize >= 8); }

class Sm90Attention : public Attention {
 public:
  explicit Sm90Attention(const AttentionShape& shape)
      : shape_(shape),
        sparse_(shape.topk > 0),
        planned_(sparse_ ? shape.requests * shape.qLen : shape.requests),
        rows_(sparse_ ? shape.heads : shape.qLen * shape.heads),
        rowBlocks_((rows_ + kRows - 1) / kRows),
        parts_(std::clamp(deviceAttribute(cudaDevAttrMultiProcessorCount) / rowBlocks_, 1, kMostParts)) {}

  const char* name() const override { return "sm90"; }
  bool takesStats() const override { return true; }

  int64_t workspaceBytes() const override { return workspace(nullptr).bytes; }

  void plan(void* memory, const int32_t* lengths, cudaStream_t stream) override {
    // The keys of sparse attention are known only once a layer has chosen them.
    if (!sparse_) makePlan(planView(workspace(memory).plan, planned_, parts_), lengths, stream);
  }

  void run(void* memory, const AttentionInputs& inputs, cudaStream_t stream) override {
    const Workspace space = workspace(memory);
    KernelArgs args{};
    args.inputs = inputs;
    args.plan = planView(space.plan, planned_, parts_);
    args.arrivals = space.arrivals;
    args.splitRows = space.splitRows;
    args.splitOut = space.splitOut;
    args.lengths = inputs.lengths;
    args.rows = rows_;
    args.heads = shape_.heads;
    args.rowBlocks = rowBlocks_;
    args.pageSize = shape_.pageSize;
    args.pageInverse = pageInverse(shape_.pageSize);
    // Not 0, since 0 times the -inf of a key that is not seen is NaN.
    args.scoreScale = std::max(static_cast<float>(inputs.softmaxScale * inputs.kvScale * kLog2E), FLT_MIN);
    args.outScale = inputs.kvScale;
    args.outFp32 = shape_.outFp32;
    if (sparse_) {
      compactSlots(inputs.slots, planned_, shape_.topk, space.slots, space.counts, stream);
      makePlan(args.plan, space.counts, stream);
      args.lengths = space.counts;
      args.slots = space.slots;
      args.slotStride = shape_.topk;
      args.inputs.bounds = nullptr;
    }
    KernelMaps maps{};
    maps.queries = tensorMap(inputs.q, static_cast<int64_t>(planned_) * rows_, kKeyDim, kRows);
    const int grid = parts_ * rowBlocks_;
    if (shape_.kvType == KvType::fp8DsMla) return attendDsMlaRows(args, maps, grid, stream);
    if (shape_.kvType == KvType::fp8) return attendFp8Rows(args, maps, grid, stream);
    if (sparse_ || !boxesFit(shape_.pageSize)) return attendBf16Rows(args, maps, grid, stream);
    maps.keys =
        tensorMap(inputs.pool, inputs.poolPages * shape_.pageSize, kKeyDim, std::min(shape_.pageSize, kTile));
    attendBoxes(args, maps, grid, stream);
  }

 private:
  Workspace workspace(void* memory) const {
    Pieces pieces(memory);
    Workspace space{};
    const int64_t partials = int64_t{2} * parts_ * rowBlocks_;
    space.plan = pieces.take<unsigned char>(planBytes(planned_, parts_));
    space.arrivals = pieces.take<uint32_t>(static_cast<int64_t>(planned_) * rowBlocks_);
    space.splitRows = pieces.take<PartialRow>(partials * kRows);
    space.splitOut = pieces.take<PartialUnit>(partials * kUnitsOfPartial);
    space.counts = pieces.take<int32_t>(sparse_ ? planned_ : 0);
    space.slots = pieces.take<int32_t>(sparse_ ? static_cast<int64_t>(planned_) * shape_.topk : 0);
    space.bytes = pieces.used();
    return space;
  }

  const AttentionShape shape_;
  const bool sparse_;
  /** Requests as the kernel sees them: of sparse attention, each query token. */
  const int planned_;
  const int rows_;
  const int rowBlocks_;
  const int parts_;
};

}  // namespace

bool sm90Can(const AttentionShape& shape) {
  return deviceAttribute(cudaDevAttrComputeCapabilityMajor) == 9 && !shape.portable && shape.kvHeads == 0 &&
         shape.keyDim == kKeyDim && shape.valueDim == kValueDim && shape.kvType != KvType::fp32 &&
         (shape.topk > 0 || (shape.kvType == KvType::bf16 && boxesFit(shape.pageSize)) ||
          pagesCanBeFound(shape.pageSize));
}

std::unique_ptr<Attention> createSm90(const AttentionShape& shape) {
  return std::make_unique<Sm90Attention>(shape);
}

}  // namespace dcpscope::cuda
