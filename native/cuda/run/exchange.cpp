#include "cuda/run/exchange.h"

#include <cstring>

#include "cuda/check.h"
#include "cuda/ops/inputs.h"
#include "cuda/run/merging.h"

namespace dcpscope::cuda {
namespace {

cudaDeviceProp propertiesOf(int gpu) {
  cudaDeviceProp properties{};
  cudaCheck(cudaGetDeviceProperties(&properties, gpu), "looking at a GPU");
  return properties;
}

/** Ranks that take turns on one GPU: a transport is a copy, and the real correction or merge. */
class TurnExchange final : public Exchange {
 public:
  explicit TurnExchange(const ExchangeParts& parts)
      : parts_(parts),
        shape_(transportShape(parts.state.config, parts.state.shape, parts.sizes)),
        merging_(parts),
        ranks_(parts.state.config.ranks) {}

  void enqueue(const Work& work, const Stamps& stamps, cudaStream_t stream) const override {
    const Buffers& b = parts_.buffers;
    const int r = work.rank;
    const int layer = work.layer;
    switch (work.stage) {
      case Stage::qAllGather:
        return gatherQueries(b.queries(layer), b.gathered(), parts_.sizes.queries, stream, stamps);
      case Stage::lseAllGather:
        return gatherLse(shape_, lses(layer), b.lses(), stream, stamps);
      case Stage::lseCorrect:
        return correct(merging_.shape(r, layer), r, b.out(r, layer), b.lses(), b.wire(r), stream, stamps);
      case Stage::outReduceScatter:
        if (merging_.isMissing(r, layer)) return keepOwn(r, layer, stream, stamps);
        return reduceScatter(shape_, merging_.heads(r, layer), wires(), b.merged(layer, r), stream, stamps);
      case Stage::outAllToAll:
        if (work.part == 0)
          return packMessages(shape_, b.out(r, layer), b.lse(r, layer), b.wire(r), stream, stamps);
        return exchangeMessages(shape_, merging_.heads(r, layer), wires(), b.received(r), stream, stamps);
      case Stage::merge:
        if (merging_.isMissing(r, layer)) return keepOwn(r, layer, stream, stamps);
        if (parts_.state.config.comm == Comm::p2p)
          return mergePeers(merging_.shape(r, layer), merging_.heads(r, layer), outs(layer), lses(layer),
                            b.merged(layer, r), nullptr, stream, stamps);
        return mergeMessages(merging_.shape(r, layer), b.received(r), b.merged(layer, r), stream, stamps);
      default:
        return;
    }
  }

 private:
  void keepOwn(int rank, int layer, cudaStream_t stream, const Stamps& stamps) const {
    stampBegin(stamps, stream);
    merging_.keepOwn(rank, layer, stream);
    stampEnd(stamps, stream);
  }
  template <class At>
  RankBuffers every(At&& at) const {
    RankBuffers all{};
    for (int r = 0; r < ranks_; ++r) all.at[r] = at(r);
    return all;
  }
  RankBuffers wires() const {
    return every([&](int r) { return parts_.buffers.wire(r); });
  }
  RankBuffers lses(int layer) const {
    return every([&](int r) { return parts_.buffers.lse(r, layer); });
  }
  RankBuffers outs(int layer) const {
    return every([&](int r) { return parts_.buffers.out(r, layer); });
  }

  const ExchangeParts parts_;
  const TransportShape shape_;
  const Merging merging_;
  const int ranks_;
};

}  // namespace

std::unique_ptr<Exchange> makeTurnExchange(const ExchangeParts& parts) {
  return std::make_unique<TurnExchange>(parts);
}

std::unique_ptr<Exchange> makeExchange(const ExchangeParts& parts) {
  switch (meansOf(parts.state.config)) {
    case Means::peers:
      return makePeerExchange(parts);
    case Means::nccl:
      return makeNcclExchange(parts);
    default:
      return makeTurnExchange(parts);
  }
}

cudaUUID_t uuidOf(int gpu) { return propertiesOf(gpu).uuid; }

int gpuOf(const cudaUUID_t& uuid) {
  int count = 0;
  cudaCheck(cudaGetDeviceCount(&count), "counting the GPUs");
  for (int gpu = 0; gpu < count; ++gpu)
    if (std::memcmp(&uuid, propertiesOf(gpu).uuid.bytes, sizeof(uuid)) == 0) return gpu;
  return -1;
}

std::string gpuName(int gpu) { return "GPU " + std::to_string(gpu) + " (" + propertiesOf(gpu).name + ")"; }

}  // namespace dcpscope::cuda
