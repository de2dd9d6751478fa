#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <optional>
#include <thread>

#include "cuda/check.h"
#include "cuda/ops/transport.h"
#include "cuda/run/exchange.h"
#include "cuda/run/merging.h"

namespace dcpscope::cuda {
namespace {

/** What NCCL may take to let go at the end, before it is left to the end of the process. */
constexpr std::chrono::seconds kLetGo{3};

/** Shared with threads that NCCL may hold for longer than the run lives. */
struct Link {
  nccl::Library library;
  /** The stream that it works on, which must not go before it has let go. */
  std::shared_ptr<Queue> queue;
  std::optional<nccl::Communicator> comm;
  std::atomic<bool> made{false};
  /** Whoever sees both aborts the communicator. */
  std::atomic<bool> parted{false};
};

void requireOwnGpus(const std::vector<PeerRecord>& records) {
  for (size_t a = 0; a < records.size(); ++a)
    for (size_t b = a + 1; b < records.size(); ++b)
      if (std::memcmp(&records[a].gpu, &records[b].gpu, sizeof(cudaUUID_t)) == 0)
        throw EngineError(ErrorCode::engine, "NCCL needs a GPU for each rank: rank " + std::to_string(a) +
                                                 " and rank " + std::to_string(b) +
                                                 " share one; use p2p or fewer ranks");
}

/** One rank that exchanges by the collectives of NCCL. */
class NcclExchange final : public Exchange {
 public:
  explicit NcclExchange(const ExchangeParts& parts)
      : c_(parts.state.config),
        s_(parts.state.shape),
        rank_(parts.state.firstRank()),
        gpu_(parts.gpu),
        buffers_(parts.buffers),
        shape_(transportShape(c_, s_, parts.sizes)),
        merging_(parts),
        tokens_(parts.sizes.tokens),
        link_(std::make_shared<Link>()) {
    if (!link_->library.problem().empty()) throw EngineError(ErrorCode::engine, link_->library.problem());
  }

  ~NcclExchange() override {
    if (broken_ || !link_->made) return;
    std::promise<void> done;
    const std::future<void> letGo = done.get_future();
    std::thread([link = link_, gpu = gpu_, done = std::move(done)]() mutable {
      static_cast<void>(cudaSetDevice(gpu));
      link->comm.reset();
      done.set_value();
    }).detach();
    static_cast<void>(letGo.wait_for(kLetGo));
  }

  void enqueue(const Work& work, const Stamps& stamps, cudaStream_t stream) const override {
    switch (work.stage) {
      case Stage::qAllGather:
        return between(stamps, stream, [&] { collect(work.layer, stream); });
      case Stage::lseAllGather:
        return between(stamps, stream, [&] {
          comm().allGather(buffers_.lse(rank_, work.layer), buffers_.lses(), rows() * 4, stream);
        });
      case Stage::lseCorrect:
        return correct(merging_.shape(rank_, work.layer), rank_, buffers_.out(rank_, work.layer),
                       buffers_.lses(), buffers_.wire(rank_), stream, stamps);
      case Stage::outReduceScatter:
        return between(stamps, stream, [&] {
          scatter(work.layer, stream);
          // The others need this rank in the collective all the same.
          if (merging_.isMissing(rank_, work.layer)) merging_.keepOwn(rank_, work.layer, stream);
        });
      case Stage::outAllToAll:
        if (work.part == 0)
          return packMessages(shape_, buffers_.out(rank_, work.layer), buffers_.lse(rank_, work.layer),
                              buffers_.wire(rank_), stream, stamps);
        return between(stamps, stream, [&] {
          comm().allToAll(buffers_.wire(rank_), buffers_.received(rank_), messageBytes(shape_), stream);
        });
      case Stage::merge:
        if (merging_.isMissing(rank_, work.layer))
          return between(stamps, stream, [&] { merging_.keepOwn(rank_, work.layer, stream); });
        return mergeMessages(merging_.shape(rank_, work.layer), buffers_.received(rank_),
                             buffers_.merged(work.layer, rank_), stream, stamps);
      default:
        return;
    }
  }

  PeerRecord record() const override {
    PeerRecord own;
    own.gpu = uuidOf(gpu_);
    if (rank_ == 0) own.nccl = link_->library.uniqueId();
    return own;
  }

  /**
   * NCCL sets up its ways when a collective is first called, and then waits for the others on the host: each
   * kind is called once here, on the real buffers, before anything is in them.
   */
  std::function<void()> connect(const std::vector<PeerRecord>& records,
                                const std::shared_ptr<Queue>& queue) override {
    requireOwnGpus(records);
    link_->queue = queue;
    const Buffers& b = buffers_;
    const bool gathers = gathersQueries(c_);
    const bool agRs = c_.comm == Comm::agRs;
    return [link = link_, id = records[0].nccl, ranks = c_.ranks, rank = rank_, gpu = gpu_,
            stream = queue->stream, gathers, agRs, queries = gathers ? b.queries(0) : nullptr,
            slices = b.slices(), slice = sliceBytes(), lse = b.lse(rank_, 0), lses = b.lses(),
            lseBytes = rows() * 4, wire = b.wire(rank_), scattered = scattered(0),
            values = rows() / c_.ranks * s_.valueDim, type = wireType(), received = b.received(rank_),
            message = agRs ? 0 : messageBytes(shape_)] {
      cudaCheck(cudaSetDevice(gpu), "opening the GPU");
      link->comm.emplace(link->library, id, ranks, rank);
      link->made = true;
      if (link->parted) return link->comm->abort();
      if (gathers) link->comm->allGather(queries, slices, slice, stream);
      if (agRs) {
        link->comm->allGather(lse, lses, lseBytes, stream);
        link->comm->reduceScatter(wire, scattered, values, type, stream);
      } else {
        link->comm->allToAll(wire, received, message, stream);
      }
      cudaCheck(cudaStreamSynchronize(stream), "connecting the ranks");
    };
  }

  void breakOff() override {
    if (broken_) return;
    broken_ = true;
    link_->parted = true;
    if (!link_->made) return;
    // It returns when all kernels have let go, which they do when it has begun.
    std::thread([link = link_, gpu = gpu_] {
      static_cast<void>(cudaSetDevice(gpu));
      link->comm->abort();
    }).detach();
  }

  void requireHealthy() override {
    if (!broken_) comm().requireHealthy();
  }

 private:
  nccl::Communicator& comm() const { return *link_->comm; }
  int64_t rows() const { return static_cast<int64_t>(tokens_) * c_.heads; }
  int64_t sliceBytes() const { return rows() / c_.ranks * s_.keyDim * s_.valueBytes; }
  nccl::Type wireType() const { return s_.wireBytes == 4 ? nccl::Type::fp32 : nccl::Type::bf16; }
  bool narrows() const { return s_.wireBytes != s_.valueBytes; }
  /** Where the sum goes: right to the merged rows where it has their type. */
  char* scattered(int layer) const {
    return narrows() ? buffers_.received(rank_) : buffers_.merged(layer, rank_);
  }

  template <class F>
  static void between(const Stamps& stamps, cudaStream_t stream, F&& work) {
    stampBegin(stamps, stream);
    work();
    stampEnd(stamps, stream);
  }

  void collect(int layer, cudaStream_t stream) const {
    comm().allGather(buffers_.queries(layer), buffers_.slices(), sliceBytes(), stream);
    RankBuffers slices{};
    for (int r = 0; r < c_.ranks; ++r) slices.at[r] = buffers_.slices() + r * sliceBytes();
    gatherHeads(shape_, s_.keyDim, rank_, slices, buffers_.gathered(), nullptr, stream, nullptr);
  }

  void scatter(int layer, cudaStream_t stream) const {
    comm().reduceScatter(buffers_.wire(rank_), scattered(layer), rows() / c_.ranks * s_.valueDim, wireType(),
                         stream);
    if (!narrows()) return;
    // The sum of one wire, in the type of the merged rows.
    TransportShape own = shape_;
    own.heads = s_.headsPerRank;
    own.ranks = 1;
    RankBuffers sum{};
    sum.at[0] = scattered(layer);
    reduceScatter(own, 0, sum, buffers_.merged(layer, rank_), stream, nullptr);
  }

  const Config& c_;
  const Shape& s_;
  const int rank_;
  const int gpu_;
  const Buffers& buffers_;
  const TransportShape shape_;
  const Merging merging_;
  const int tokens_;
  std::shared_ptr<Link> link_;
  bool broken_ = false;
};

}  // namespace

std::unique_ptr<Exchange> makeNcclExchange(const ExchangeParts& parts) {
  return std::make_unique<NcclExchange>(parts);
}

}  // namespace dcpscope::cuda
