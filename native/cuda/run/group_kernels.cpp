#include <algorithm>
#include <string>

#include "cuda/check.h"
#include "cuda/run/group.h"

namespace dcpscope::cuda {
namespace {

/** Kinds of the operations of a captured graph; nothing else in it runs on the device. */
OpKinds kindsIn(cudaGraph_t graph) {
  size_t count = 0;
  cudaCheck(cudaGraphGetNodes(graph, nullptr, &count), "counting kernels");
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) cudaCheck(cudaGraphGetNodes(graph, nodes.data(), &count), "counting kernels");
  OpKinds kinds;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    cudaCheck(cudaGraphNodeGetType(node, &type), "counting kernels");
    if (type == cudaGraphNodeTypeKernel) kinds.push_back(OpKind::kernel);
    if (type == cudaGraphNodeTypeMemcpy) kinds.push_back(OpKind::copy);
    if (type == cudaGraphNodeTypeMemset) kinds.push_back(OpKind::fill);
  }
  return kinds;
}

}  // namespace

/** Captures each piece of work once, to look at what it enqueues; nothing runs. All kernels are loaded by
 * now. */
std::vector<OpKinds> CudaGroup::opsOfWork(StepMode mode) {
  std::vector<OpKinds> all;
  for (size_t at = 0; at < order_.size(); ++at) {
    const CapturedGraph graph(queue_->stream, [&] { stages_.enqueue(order_, at, mode, queue_->stream); });
    all.push_back(kindsIn(graph.get()));
  }
  return all;
}

void CudaGroup::recordKernels(const Lanes& lanes, const std::vector<Hull>& hulls, int64_t began,
                              KernelTrace& kernels) {
  const std::vector<OpKinds> kinds = opsOfWork({true, state_.frame.captured, true});
  kernels.records = static_cast<int64_t>(recordedOps_.size());
  kernels.expected = countOps(kinds);
  const std::optional<PlacedOps> placed = placeOps(order_, kinds, hulls, lanes, recordedOps_);
  std::vector<int64_t> perRank(static_cast<size_t>(c_.ranks), 0);
  if (placed)
    for (const PlacedOp& op : placed->ops)
      ++perRank[static_cast<size_t>(order_[static_cast<size_t>(op.work)].rank)];
  kernels.whole = placed.has_value();
  for (int r = ranks().first; r < ranks().end; ++r)
    kernels.whole = kernels.whole && perRank[static_cast<size_t>(r)] <= state_.trace(r).kernels.room();
  if (!kernels.whole) {
    kernelProblem_ = "CUPTI gave " + std::to_string(kernels.records) + " records of step " +
                     std::to_string(state_.frame.step) + ", which are not the " +
                     std::to_string(kernels.expected) + " that it enqueued";
    return;
  }
  kernels.records = kernels.expected;
  kernels.uncertaintyNs = placed->uncertaintyNs;
  pushKernels(*placed, began);
}

void CudaGroup::pushKernels(const PlacedOps& placed, int64_t began) {
  for (const PlacedOp& at : placed.ops) {
    const DeviceOp& op = recordedOps_[static_cast<size_t>(at.op)];
    const Work& work = order_[static_cast<size_t>(at.work)];
    KernelRow row{};
    row.step = state_.frame.step;
    row.layer = work.layer;
    row.stage = at.stage;
    row.name = kernelName(op.name);
    row.start = began + at.start;
    row.duration = static_cast<int64_t>(op.end - op.start);
    row.bytes = op.bytes;
    std::copy_n(op.grid, 3, row.grid);
    std::copy_n(op.block, 3, row.block);
    row.registers = op.registers;
    row.sharedBytes = op.sharedBytes;
    row.stream = op.stream;
    row.graph = op.graph;
    state_.trace(work.rank).kernels.push(row);
  }
}

int32_t CudaGroup::kernelName(const std::string& mangled) {
  const auto [found, isNew] =
      kernelNames_.try_emplace(mangled, static_cast<int32_t>(state_.kernelNames.size()));
  if (isNew) state_.kernelNames.push_back(readableName(mangled));
  return found->second;
}

}  // namespace dcpscope::cuda
