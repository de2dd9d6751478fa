#pragma once
#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/nccl.h"
#include "core/run_state.h"
#include "cuda/ops/transport.h"
#include "cuda/run/buffers.h"
#include "cuda/run/queue.h"
#include "cuda/run/sizes.h"
#include "cuda/run/timeline.h"

namespace dcpscope::cuda {

/** What a rank tells the others of itself before they exchange data; trivially copyable. */
struct PeerRecord {
  cudaUUID_t gpu{};
  cudaIpcMemHandle_t memory{};
  nccl::UniqueId nccl;
};

/** How queries and partials go from rank to rank: enqueues the work of the stages in which ranks meet. */
class Exchange {
 public:
  virtual ~Exchange() = default;

  /** Everything here can be captured into a graph. `stamps` may be none. */
  virtual void enqueue(const Work& work, const Stamps& stamps, cudaStream_t stream) const = 0;

  /** Of ranks with processes of their own, which all call it: what the others need of this rank. */
  virtual PeerRecord record() const { return {}; }
  /**
   * Finds the ranks of `records`, one each; ERR_ENGINE in one line where their GPUs cannot reach each other.
   * What it returns may wait for the other ranks without bound: to be called once, on any thread, also when
   * this object is gone. Nothing where there is nothing to wait for.
   */
  virtual std::function<void()> connect(const std::vector<PeerRecord>&, const std::shared_ptr<Queue>&) {
    return {};
  }

  /** A rank for which a kernel has waited in vain; -1: none. */
  virtual int lostRank() const { return -1; }
  /** Lets what waits for others on the GPU end soon; after it nothing is exchanged any more. */
  virtual void breakOff() {}
  /** After a step: throws what the transport has met. */
  virtual void requireHealthy() {}
};

/** What the kinds of exchange share. */
struct ExchangeParts {
  const RunState& state;
  const Sizes& sizes;
  const Buffers& buffers;
  /** As CUDA counts them. */
  int gpu;
};

/** The one that fits the configuration; ERR_ENGINE in one line where NCCL cannot be used. */
std::unique_ptr<Exchange> makeExchange(const ExchangeParts& parts);

std::unique_ptr<Exchange> makeTurnExchange(const ExchangeParts& parts);
std::unique_ptr<Exchange> makeNcclExchange(const ExchangeParts& parts);
std::unique_ptr<Exchange> makePeerExchange(const ExchangeParts& parts);

/** UUID of a GPU as CUDA counts them; and the GPU of this machine that has it, -1 where none is to be seen.
 */
cudaUUID_t uuidOf(int gpu);
int gpuOf(const cudaUUID_t& uuid);
/** `GPU 1 (NVIDIA H200)`. */
std::string gpuName(int gpu);

}  // namespace dcpscope::cuda
