#include <cmath>
#include <string>

#include "core/error.h"
#include "cuda/attention.h"
#include "cuda/device.h"
#include "cuda/portable/schedule.h"
#include "cuda/portable/tile.cuh"
#include "cuda/portable/work.h"

namespace dcpscope::cuda {
namespace {

using portable::AttendKernel;
using portable::rowsPerGroup;
using portable::Work;

constexpr int64_t kAlignment = 256;

void rule(bool holds, const char* field, const std::string& what) {
  if (!holds) throw EngineError(ErrorCode::config, std::string(field) + ": " + what);
}

void validate(const AttentionShape& shape) {
  const auto got = [](int value) { return ", got " + std::to_string(value); };
  rule(shape.kvType != KvType::fp32, "kvDtype",
       "fp32 caches are for device cpu; use bf16, fp8 or fp8_ds_mla on a GPU");
  rule(shape.requests > 0 && shape.qLen > 0 && shape.heads > 0 && shape.pageSize > 0, "shape",
       "requests, query tokens, heads and pageSize must be above 0");
  const bool grouped = shape.kvHeads > 0;
  rule(shape.valueDim > 0 && shape.valueDim <= portable::kMaxValueDim && shape.valueDim % 16 == 0,
       grouped ? "headDim" : "kvLoraRank",
       "must be a multiple of 16 up to 512 on a GPU" + got(shape.valueDim));
  const int rope = shape.keyDim - shape.valueDim;
  rule(rope >= 0 && rope <= portable::kMaxRopeDim && rope % 16 == 0, "ropeDim",
       "must be a multiple of 16 up to 256 on a GPU" + got(rope));
  rule(shape.kvType != KvType::fp8DsMla ||
           (shape.valueDim == portable::kDsMlaLatent && rope == portable::kDsMlaRope),
       "kvDtype", "fp8_ds_mla rows hold kvLoraRank 512 and ropeDim 64");
  if (!grouped) return;
  rule(shape.heads % shape.kvHeads == 0, "kvHeads", "must divide heads" + got(shape.kvHeads));
  rule(rope == 0, "headDim", "must be that of keys and of values" + got(shape.keyDim));
  rule(shape.topk == 0, "topk", "must be 0 with KV heads" + got(shape.topk));
  rule(shape.kvType != KvType::fp8DsMla, "kvDtype", "fp8_ds_mla keeps no KV heads");
}

int64_t aligned(int64_t bytes) { return portable::divideUp(bytes, kAlignment) * kAlignment; }

class PortableAttention final : public Attention {
 public:
  explicit PortableAttention(const AttentionShape& shape) : kernel_(portable::attendKernel(shape)) {
    rule(deviceAttribute(cudaDevAttrComputeCapabilityMajor) >= 8, "device",
         "attention needs a GPU of compute capability 8.0 or newer");
    cudaCheck(cudaFuncSetAttribute(kernel_.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   kernel_.sharedBytes),
              "shared memory of attention");
    int resident = 0;
    cudaCheck(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_.function, portable::kThreads,
                                                            size_t(kernel_.sharedBytes)),
              "occupancy of attention");

    const bool sparse = shape.topk > 0;
    work_.shape = shape;
    work_.kvHeads = shape.kvHeads > 0 ? shape.kvHeads : 1;
    work_.blocks = deviceAttribute(cudaDevAttrMultiProcessorCount) * resident;
    work_.groups = sparse ? shape.requests * shape.qLen : shape.requests * work_.kvHeads;
    work_.rowsPerGroup = rowsPerGroup(shape);
    work_.rows = kernel_.rows;
    work_.keys = kernel_.keys;
    work_.items = int(portable::divideUp(work_.rowsPerGroup, kernel_.rows));
  }

  const char* name() const override { return "portable"; }
  bool takesStats() const override { return false; }

  int64_t workspaceBytes() const override {
    Work work = work_;
    return place(work, nullptr);
  }

  void plan(void* workspace, const int32_t* lengths, cudaStream_t stream) override {
    Work work = work_;
    place(work, static_cast<unsigned char*>(workspace));
    portable::launchPlan(work, lengths, stream);
  }

  void run(void* workspace, const AttentionInputs& inputs, cudaStream_t stream) override {
    Work work = work_;
    place(work, static_cast<unsigned char*>(workspace));
    work.in = inputs;
    work.headsTogether = inputs.headsTogether > 0 ? inputs.headsTogether : work.shape.heads / work.kvHeads;
    const float unit = work.shape.kvType == KvType::fp8 ? inputs.kvScale : 1.0f;
    work.scoreScale = float(double(inputs.softmaxScale) * M_LOG2E * double(unit));
    work.valueScale = unit;
    void* arguments[] = {&work};
    cudaCheck(cudaLaunchKernel(kernel_.function, dim3(unsigned(work.blocks)), dim3(portable::kThreads),
                               arguments, size_t(kernel_.sharedBytes), stream),
              "attention");
    portable::launchCombine(work, stream);
  }

 private:
  /** Lays the parts of the workspace out from `memory` on; their bytes together. */
  static int64_t place(Work& work, unsigned char* memory) {
    int64_t at = 0;
    const auto take = [&](int64_t bytes) {
      unsigned char* part = memory == nullptr ? nullptr : memory + at;
      at += aligned(bytes);
      return part;
    };
    const int64_t partialRows = 2 * int64_t(work.blocks) * work.rows;
    work.plan.share = reinterpret_cast<int64_t*>(take(sizeof(int64_t)));
    work.plan.begin = reinterpret_cast<int64_t*>(take((work.groups + 1) * int64_t(sizeof(int64_t))));
    work.plan.firstGroup = reinterpret_cast<int32_t*>(take(work.blocks * int64_t(sizeof(int32_t))));
    work.partialLse = reinterpret_cast<float*>(take(partialRows * int64_t(sizeof(float))));
    work.partialOut =
        reinterpret_cast<float*>(take(partialRows * work.shape.valueDim * int64_t(sizeof(float))));
    return at;
  }

  AttendKernel kernel_;
  Work work_{};
};

}  // namespace

std::unique_ptr<Attention> Attention::createPortable(const AttentionShape& shape) {
  validate(shape);
  return std::make_unique<PortableAttention>(shape);
}

}  // namespace dcpscope::cuda
