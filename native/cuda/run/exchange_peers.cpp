#include <utility>

#include "cuda/check.h"
#include "cuda/run/exchange.h"
#include "cuda/run/meeting.h"
#include "cuda/run/merging.h"

namespace dcpscope::cuda {
namespace {

/** Memory of another process, as this one reaches it; closed with the object. */
class PeerMapping {
 public:
  explicit PeerMapping(const cudaIpcMemHandle_t& handle) {
    cudaCheck(cudaIpcOpenMemHandle(&data_, handle, cudaIpcMemLazyEnablePeerAccess),
              "opening the memory of another rank");
  }
  PeerMapping(PeerMapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  PeerMapping& operator=(PeerMapping&&) = delete;
  ~PeerMapping() {
    if (data_ != nullptr) static_cast<void>(cudaIpcCloseMemHandle(data_));
  }

  template <class T = char>
  T* at(int64_t offset) const {
    return reinterpret_cast<T*>(static_cast<char*>(data_) + offset);
  }

 private:
  void* data_ = nullptr;
};

/** Throws the same line on every rank, about the first two GPUs that cannot reach each other. */
void requireAccess(const std::vector<int>& gpus) {
  for (size_t a = 0; a < gpus.size(); ++a)
    for (size_t b = 0; b < gpus.size(); ++b) {
      if (gpus[a] == gpus[b]) continue;
      int can = 0;
      cudaCheck(cudaDeviceCanAccessPeer(&can, gpus[a], gpus[b]), "asking for access to a peer");
      if (can != 0) continue;
      throw EngineError(ErrorCode::engine,
                        "p2p needs GPUs that reach each other's memory: " + gpuName(gpus[a]) + " of rank " +
                            std::to_string(a) + " cannot reach " + gpuName(gpus[b]) + " of rank " +
                            std::to_string(b) + "; use ag_rs or a2a");
    }
}

std::vector<int> gpusOf(const std::vector<PeerRecord>& records) {
  std::vector<int> gpus;
  for (size_t r = 0; r < records.size(); ++r) {
    gpus.push_back(gpuOf(records[r].gpu));
    if (gpus.back() < 0)
      throw EngineError(ErrorCode::engine, "p2p needs every rank to see the GPUs of all: that of rank " +
                                               std::to_string(r) + " is hidden here (CUDA_VISIBLE_DEVICES)");
  }
  return gpus;
}

/** One rank that reads what its peers have made, in their memory. */
class PeerExchange final : public Exchange {
 public:
  explicit PeerExchange(const ExchangeParts& parts)
      : c_(parts.state.config),
        s_(parts.state.shape),
        rank_(parts.state.firstRank()),
        gpu_(parts.gpu),
        z_(parts.sizes),
        buffers_(parts.buffers),
        shape_(transportShape(c_, parts.state.shape, parts.sizes)),
        merging_(parts),
        lost_(sizeof(uint32_t), "pinned") {
    flags_.count = at<PeerFlags::Count>(rank_, z_.shared.count);
    flags_.patience = kDevicePatienceNs;
    flags_.lost = lost_.onDevice<uint32_t>();
  }

  void enqueue(const Work& work, const Stamps& stamps, cudaStream_t stream) const override {
    const int layer = work.layer;
    if (work.stage == Stage::qAllGather)
      gatherHeads(shape_, s_.keyDim, rank_, every(z_.shared.queries + layer * z_.made), buffers_.gathered(),
                  &flags_, stream, stamps);
    if (work.stage == Stage::merge) merge(layer, stamps, stream);
  }

  PeerRecord record() const override {
    PeerRecord own;
    own.gpu = uuidOf(gpu_);
    cudaCheck(cudaIpcGetMemHandle(&own.memory, buffers_.shared().at()), "sharing memory with other ranks");
    return own;
  }

  std::function<void()> connect(const std::vector<PeerRecord>& records,
                                const std::shared_ptr<Queue>&) override {
    requireAccess(gpusOf(records));
    mappings_.reserve(records.size());
    for (int r = 0; r < c_.ranks; ++r)
      if (r != rank_) mappings_.emplace_back(records[static_cast<size_t>(r)].memory);
    for (int r = 0; r < c_.ranks; ++r) flags_.turns[r] = at<uint32_t>(r, z_.shared.flags);
    return {};
  }

  int lostRank() const override {
    const uint32_t lost = *lost_.at<volatile uint32_t>();
    return lost == 0 || lost > static_cast<uint32_t>(c_.ranks) ? -1 : static_cast<int>(lost) - 1;
  }

  void breakOff() override {
    if (lostRank() < 0) *lost_.at<volatile uint32_t>() = static_cast<uint32_t>(c_.ranks) + 1;
  }

 private:
  template <class T = char>
  T* at(int rank, int64_t offset) const {
    if (rank == rank_) return buffers_.shared().at<T>(offset);
    return mappings_[static_cast<size_t>(rank < rank_ ? rank : rank - 1)].at<T>(offset);
  }
  RankBuffers every(int64_t offset) const {
    RankBuffers all{};
    for (int r = 0; r < c_.ranks; ++r) all.at[r] = at(r, offset);
    return all;
  }

  /** A rank that keeps its own partial comes to its peers all the same. */
  void merge(int layer, const Stamps& stamps, cudaStream_t stream) const {
    // The kernel reads the heads of its rank; those of another lie as far off in the partials of all.
    const int64_t rows = static_cast<int64_t>(merging_.heads(rank_, layer) - rank_) * s_.headsPerRank;
    mergePeers(merging_.shape(rank_, layer), rank_,
               every(buffers_.sharedOut(layer) + rows * s_.valueDim * s_.valueBytes),
               every(buffers_.sharedLse(layer) + rows * 4), buffers_.merged(layer, rank_), &flags_, stream,
               stamps);
    if (merging_.isMissing(rank_, layer)) merging_.keepOwn(rank_, layer, stream);
  }

  const Config& c_;
  const Shape& s_;
  const int rank_;
  const int gpu_;
  const Sizes& z_;
  const Buffers& buffers_;
  const TransportShape shape_;
  const Merging merging_;
  /** Of the others, in order of rank. */
  std::vector<PeerMapping> mappings_;
  PinnedMemory lost_;
  PeerFlags flags_{};
};

}  // namespace

std::unique_ptr<Exchange> makePeerExchange(const ExchangeParts& parts) {
  return std::make_unique<PeerExchange>(parts);
}

}  // namespace dcpscope::cuda
