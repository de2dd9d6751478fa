#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "core/stale.h"
#include "cuda/attention.h"
#include "cuda/host_tests/stand_in.h"
#include "cuda/ops/cache.h"
#include "cuda/ops/faults.h"
#include "cuda/ops/inputs.h"
#include "cuda/ops/kernel_lse.h"
#include "cuda/ops/metadata_token.h"
#include "cuda/ops/neutralize.h"
#include "cuda/ops/rest_of_layer.h"
#include "cuda/ops/sparse.h"
#include "cuda/ops/transport.h"
#include "cuda/run/clock.h"
#include "cuda/run/fault.h"
#include "cuda/run/kernel_recorder.h"

namespace dcpscope::cuda {
namespace host_tests {

Readings& readings() {
  static Readings one;
  return one;
}

namespace {

constexpr auto kHang = std::chrono::seconds(9);

void announce(const Stamps& stamps) {
  if (stamps.word != nullptr) __atomic_store_n(stamps.word, stamps.name, __ATOMIC_RELAXED);
}

/** Ranks come and go in any order. */
void nap() {
  thread_local std::minstd_rand random(static_cast<unsigned>(steadyNs()));
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 8));
}

/** A kernel that stamps and does `work`; false when that gave up, which has no end. */
template <class F>
void kernel(cudaStream_t stream, Stamps stamps, F work) {
  enqueue(stream, [=] {
    announce(stamps);
    if (stamps.first != nullptr) stamps.first[0].begin = steadyNs();
    nap();
    const bool whole = work();
    if (whole && stamps.first != nullptr) stamps.first[0].end = steadyNs();
  });
}
void kernel(cudaStream_t stream, Stamps stamps) {
  kernel(stream, stamps, [] { return true; });
}

uint32_t load(const void* from) {
  return __atomic_load_n(static_cast<const uint32_t*>(from), __ATOMIC_ACQUIRE);
}
void store(void* to, uint32_t value) {
  __atomic_store_n(static_cast<uint32_t*>(to), value, __ATOMIC_RELEASE);
}

/** As the kernels of cuda/ops/peer_flags.cuh. */
bool meetPeers(const PeerFlags& flags, int rank, int ranks) {
  const uint32_t turn = load(&flags.count->turn) + 1;
  for (int peer = 0; peer < ranks; ++peer) store(flags.turns[peer] + rank, turn);
  const uint64_t begun = steadyNs();
  for (int peer = 0; peer < ranks; ++peer)
    while (static_cast<int32_t>(load(flags.turns[rank] + peer) - turn) < 0) {
      if (load(flags.lost) != 0) return false;
      if (steadyNs() - begun < flags.patience) {
        std::this_thread::sleep_for(std::chrono::microseconds(5));
        continue;
      }
      store(flags.lost, static_cast<uint32_t>(peer) + 1);
      return false;
    }
  return true;
}

/** A kernel that reads the first word of what every rank has, which must be the same everywhere. */
void reads(const TransportShape& shape, int rank, const RankBuffers& buffers, const PeerFlags* flags,
           std::atomic<uint64_t>& count, cudaStream_t stream, const Stamps& stamps) {
  const bool waits = flags != nullptr;
  kernel(stream, stamps, [=, &count, own = waits ? *flags : PeerFlags{}, ranks = shape.ranks] {
    if (!waits) return true;
    const bool all = meetPeers(own, rank, ranks);
    if (all) {
      ++count;
      const uint32_t expected = load(buffers.at[rank]);
      nap();
      for (int r = 0; r < ranks; ++r)
        if (load(buffers.at[r]) != expected) ++readings().wrong;
    }
    store(&own.count->turn, load(&own.count->turn) + 1);
    return all;
  });
}

/** Writes how often it ran, so that whoever reads it sees of which layer and step it is. */
class CountingAttention final : public Attention {
 public:
  const char* name() const override { return "threads"; }
  bool takesStats() const override { return true; }
  int64_t workspaceBytes() const override { return 256; }
  void plan(void*, const int32_t*, cudaStream_t stream) override { kernel(stream, {}); }
  void run(void*, const AttentionInputs& inputs, cudaStream_t stream) override {
    kernel(stream, inputs.attendStamps, [this, out = inputs.out, lse = inputs.lse] {
      const uint32_t number = ++runs_;
      store(out, number);
      store(lse, number);
      return true;
    });
  }

 private:
  std::atomic<uint32_t> runs_{0};
};

}  // namespace
}  // namespace host_tests

using host_tests::kernel;

void makeMetadata(const MetadataTask& task, cudaStream_t stream, Stamps stamps) {
  kernel(stream, stamps, [task] {
    for (int token = 0; token < task.requests * task.qLen; ++token) writeMetadata(task, token);
    return true;
  });
}
void localize(const LocalizeTask&, cudaStream_t stream, Stamps stamps) { kernel(stream, stamps); }
void localizeBy(const ChoiceRule&, const int32_t*, const LocalizeTask&, cudaStream_t stream, Stamps stamps) {
  kernel(stream, stamps);
}
void append(const AppendTask&, cudaStream_t stream, Stamps stamps) { kernel(stream, stamps); }
void appendInOrder(const AppendTask&, cudaStream_t stream, Stamps stamps) { kernel(stream, stamps); }
void fill(const FillTask&, cudaStream_t stream) { kernel(stream, {}); }
void chooseKeys(const ChooseTask&, cudaStream_t stream) { kernel(stream, {}); }
void gatherQueries(const void*, void*, int64_t, cudaStream_t stream, Stamps stamps) {
  kernel(stream, stamps);
}
void layOutLse(const float*, int, const KernelLse&, cudaStream_t stream, Stamps) { kernel(stream, {}); }
void neutralize(const NeutralizeTask&, cudaStream_t stream, Stamps stamps) { kernel(stream, stamps); }
void neutralize(const NeutralizeTask&, const KernelLse&, LseReading, cudaStream_t stream, Stamps stamps) {
  kernel(stream, stamps);
}
void fillPartial(const PartialFill& task, cudaStream_t stream) {
  kernel(stream, {}, [task] {
    const int64_t values = (task.end - task.first) * task.valueDim;
    const int64_t at = task.first * task.valueDim * (task.outFp32 ? 4 : 2);
    fillRow(static_cast<unsigned char*>(task.out) + at, !task.outFp32, task.outValue, values);
    std::fill(task.lse + task.first, task.lse + task.end, task.lseValue);
    return true;
  });
}
void roundToBf16(float*, int64_t, cudaStream_t stream) { kernel(stream, {}); }
void ruleBounds(const NeutralRule&, int, const int32_t*, int32_t*, cudaStream_t stream) {
  kernel(stream, {});
}
void misread(const MisreadTask&, cudaStream_t stream) { kernel(stream, {}); }
void restOfLayer(const RestTask&, cudaStream_t stream, Stamps stamps) { kernel(stream, stamps); }
int64_t restBufferBytes(int64_t bytes) { return bytes; }
void countNan(const void*, bool, int, int, NanCount*, cudaStream_t stream) { kernel(stream, {}); }

void makeInputs(const InputsTask& task, cudaStream_t stream) {
  static std::atomic<uint32_t> made{0};
  kernel(stream, {}, [queries = task.queries] {
    host_tests::store(queries, ++made);
    return true;
  });
}

void gatherLse(const TransportShape&, const RankBuffers&, float*, cudaStream_t stream, Stamps stamps) {
  kernel(stream, stamps);
}
void correct(const TransportShape&, int, const void*, const float*, void*, cudaStream_t stream,
             Stamps stamps) {
  kernel(stream, stamps);
}
void reduceScatter(const TransportShape&, int, const RankBuffers&, void*, cudaStream_t stream,
                   Stamps stamps) {
  kernel(stream, stamps);
}
int64_t messageBytes(const TransportShape& shape) {
  return int64_t{shape.tokens} * (shape.heads / shape.ranks) * (shape.valueDim * 2 + 4);
}
void packMessages(const TransportShape&, const void*, const float*, void*, cudaStream_t stream,
                  Stamps stamps) {
  kernel(stream, stamps);
}
void exchangeMessages(const TransportShape&, int, const RankBuffers&, void*, cudaStream_t stream,
                      Stamps stamps) {
  kernel(stream, stamps);
}
void mergeMessages(const TransportShape&, const void*, void*, cudaStream_t stream, Stamps stamps) {
  kernel(stream, stamps);
}
void mergePeers(const TransportShape& shape, int rank, const RankBuffers& out, const RankBuffers&, void*,
                const PeerFlags* flags, cudaStream_t stream, Stamps stamps) {
  host_tests::reads(shape, rank, out, flags, host_tests::readings().merges, stream, stamps);
  host_tests::enqueue(stream, [shape] {
    host_tests::readings().otherBase += shape.base2 ? 1 : 0;
    host_tests::readings().alike += shape.same > 0 ? 1 : 0;
  });
}
void gatherHeads(const TransportShape& shape, int, int rank, const RankBuffers& queries, void*,
                 const PeerFlags* flags, cudaStream_t stream, Stamps stamps) {
  host_tests::reads(shape, rank, queries, flags, host_tests::readings().gathers, stream, stamps);
}
void stampBegin(Stamps stamps, cudaStream_t stream) {
  if (stamps.first == nullptr) return;
  host_tests::enqueue(stream, [=] {
    host_tests::announce(stamps);
    stamps.first[0].begin = host_tests::steadyNs();
  });
}
void stampEnd(Stamps stamps, cudaStream_t stream) {
  if (stamps.first == nullptr) return;
  host_tests::enqueue(stream, [=] { stamps.first[0].end = host_tests::steadyNs(); });
}

std::unique_ptr<Attention> Attention::create(const AttentionShape&) {
  return std::make_unique<host_tests::CountingAttention>();
}

DeviceClock::DeviceClock(const Clock& host) : host_(host) { align(); }
void DeviceClock::align() { offset_ = host_.now() - static_cast<int64_t>(host_tests::steadyNs()); }
void DeviceClock::refresh() { align(); }
std::string DeviceClock::alignment() const { return "one clock"; }

void TestFault::strike(const Stamps& stamps, cudaStream_t stream) const {
  host_tests::enqueue(stream, [stamps, hangs = at_.hangs] {
    host_tests::announce(stamps);
    if (hangs)
      std::this_thread::sleep_for(host_tests::kHang);
    else
      host_tests::device().faulted = true;
  });
}

KernelRecorder::KernelRecorder() = default;
KernelRecorder::~KernelRecorder() = default;
bool KernelRecorder::turnOn() { return false; }
void KernelRecorder::forget() {}
std::vector<DeviceOp> KernelRecorder::turnOff() { return {}; }

}  // namespace dcpscope::cuda
