#include <cstring>

#include "core/bf16.h"
#include "core/layout.h"
#include "core/quantise.h"
#include "core/topk.h"
#include "cuda/ops/inputs.h"
#include "cuda/ops/metadata.h"
#include "cuda/ops/sparse.h"
#include "cuda/tests/ops_group.h"
#include "cuda/tests/suites.h"

namespace dcpscope::generic {
extern const GenerateKernels generateKernels;
}

namespace dcpscope::cuda::tests {
namespace {

std::vector<Source> sourcesOf(Random& random, const RandomGroup& group, int keyDim) {
  const bool needles = random.chance(0.5);
  const auto seed = static_cast<uint32_t>(random.integer(0, 0xffffffffLL));
  const auto layer = static_cast<int>(random.integer(0, 60));
  std::vector<Source> sources;
  for (int r = 0; r < group.requests; ++r)
    sources.push_back(
        makeSource(seed, layer, r, needles, group.before[static_cast<size_t>(r)], keyDim, 0.05));
  return sources;
}

void expectBits(const std::vector<uint16_t>& got, const std::vector<uint16_t>& want, const char* what) {
  for (size_t i = 0; i < want.size(); ++i)
    expect(got[i] == want[i], format("%s: value %zu is %04x instead of %04x", what, i, got[i], want[i]));
}

void generatesTheBitsOfTheCpu(Random& random) {
  RandomGroup group = randomGroup(random);
  const auto heads = static_cast<int>(random.integer(1, 128));
  // Those of one rank, or all.
  const int firstHead = random.chance(0.5) ? 0 : static_cast<int>(random.integer(0, 128 - heads));
  const int keyDim = 16 * static_cast<int>(random.integer(1, 48));
  const int kvHeads = random.chance(0.5) ? 0 : static_cast<int>(random.integer(1, 9));
  const int parts = cachedRows(kvHeads);
  const std::vector<Source> sources = sourcesOf(random, group, keyDim);
  // A needle among the new tokens has to be seen as one.
  if (sources[0].needles > 0) group.before[0] = sources[0].needleAt[1];
  const DeviceArray<Source> deviceSources(sources);
  const DeviceArray<int64_t> before(group.before);
  DeviceArray<uint16_t> queries(static_cast<int64_t>(group.tokens()) * heads * keyDim);
  DeviceArray<uint16_t> keys(static_cast<int64_t>(group.tokens()) * parts * keyDim);
  queries.fill(0xff);
  keys.fill(0xff);
  makeInputs({group.requests, group.qLen, firstHead, heads, keyDim, kvHeads, deviceSources.get(),
              before.get(), queries.get(), keys.get()},
             nullptr);
  std::vector<uint16_t> wantQueries(static_cast<size_t>(queries.count()));
  std::vector<uint16_t> wantKeys(static_cast<size_t>(keys.count()));
  for (int t = 0; t < group.tokens(); ++t) {
    const auto request = static_cast<size_t>(t / group.qLen);
    const int64_t position = group.before[request] + t % group.qLen;
    for (int part = 0; part < parts; ++part)
      generic::generateKernels.bf16(cachedRow(sources[request], position, part, kvHeads), keyDim,
                                    &wantKeys[(static_cast<size_t>(t) * parts + part) * keyDim]);
    for (int h = 0; h < heads; ++h)
      generic::generateKernels.bf16(queryRow(sources[request], position, firstHead + h), keyDim,
                                    &wantQueries[(static_cast<size_t>(t) * heads + h) * keyDim]);
  }
  expectBits(queries.download(), wantQueries, "queries");
  expectBits(keys.download(), wantKeys, "keys");
  queries.checkGuards("queries");
  keys.checkGuards("keys");
}

void copiesQueries(Random& random) {
  const int64_t bytes = 32 * random.integer(1, 100000);
  std::vector<uint8_t> from(static_cast<size_t>(bytes));
  for (uint8_t& byte : from) byte = static_cast<uint8_t>(random.integer(0, 255));
  const DeviceArray<uint8_t> source(from);
  DeviceArray<uint8_t> to(bytes);
  to.fill(0xff);
  const StampProbe stamps;
  gatherQueries(source.get(), to.get(), bytes, nullptr, stamps.get());
  expect(to.download() == from, "the copy differs");
  to.checkGuards("queries");
  stamps.check();
}

/** Metadata of one group on the device. */
struct DeviceGroup {
  explicit DeviceGroup(const RandomGroup& group)
      : before(group.before),
        after(group.after),
        pageTable(group.pageTable),
        tableBegin(group.tableBegin),
        prompts(group.prompts) {}
  DeviceArray<int64_t> before;
  DeviceArray<int64_t> after;
  DeviceArray<int32_t> pageTable;
  DeviceArray<int64_t> tableBegin;
  DeviceArray<int64_t> prompts;
};

struct Metadata {
  explicit Metadata(const RandomGroup& group)
      : lengths(group.requests), bounds(group.tokens()), slots(group.tokens()) {}

  MetadataTask task(const RandomGroup& group, const DeviceGroup& device) const {
    return {group.own,
            group.requests,
            group.qLen,
            device.before.get(),
            device.after.get(),
            device.pageTable.get(),
            device.tableBegin.get(),
            group.prompts.empty() ? nullptr : device.prompts.get(),
            lengths.get(),
            bounds.get(),
            slots.get()};
  }
  void poison() {
    lengths.fill(0xff);
    bounds.fill(0xff);
    slots.fill(0x7f);
  }

  DeviceArray<int32_t> lengths;
  DeviceArray<int32_t> bounds;
  DeviceArray<int64_t> slots;
};

void expectMetadata(const RandomGroup& group, const Metadata& made) {
  const Ownership& own = group.own;
  const std::vector<int32_t> lengths = made.lengths.download();
  const std::vector<int32_t> bounds = made.bounds.download();
  const std::vector<int64_t> slots = made.slots.download();
  for (int t = 0; t < group.tokens(); ++t) {
    const auto r = static_cast<size_t>(t / group.qLen);
    const int q = t % group.qLen;
    const Deal deal = group.deal(r);
    const int64_t after = group.after[r];
    expect(lengths[r] == deal.localLength(after, own.rank), format("length of request %zu", r));
    const int64_t seen = layout::visibleGlobal(after, group.qLen, q);
    expect(bounds[static_cast<size_t>(t)] == deal.localLength(seen, own.rank),
           format("bound of token %d", t));
    const int64_t position = group.before[r] + q;
    int64_t slot = -1;
    if (position < after && deal.owner(position) == own.rank) {
      const int64_t local = deal.localIndex(position);
      slot = layout::slot(group.pages(static_cast<int>(r))[local / own.pageSize], local, own.pageSize);
    }
    expect(slots[static_cast<size_t>(t)] == slot,
           format("slot of token %d is %lld instead of %lld", t,
                  static_cast<long long>(slots[static_cast<size_t>(t)]), static_cast<long long>(slot)));
  }
  made.lengths.checkGuards("lengths");
  made.bounds.checkGuards("bounds");
  made.slots.checkGuards("slots");
}

void metadataFollowsTheDeal(Random& random) {
  const RandomGroup group = randomGroup(random, true);
  const DeviceGroup device(group);
  Metadata made(group);
  made.poison();
  const StampProbe stamps;
  makeMetadata(made.task(group, device), nullptr, stamps.get());
  expectMetadata(group, made);
  stamps.check();
}

/** One graph, replayed for lengths that change in its buffers. */
void metadataIsFreshInReplays(Random& random) {
  RandomGroup group = randomGroup(random, true);
  DeviceGroup device(group);
  Metadata made(group);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaCheck(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  cudaCheck(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  makeMetadata(made.task(group, device), stream, nullptr);
  cudaCheck(cudaStreamEndCapture(stream, &graph), "capture");
  cudaCheck(cudaGraphInstantiate(&executable, graph, 0), "graph");
  for (int replay = 0; replay < 3; ++replay) {
    for (size_t r = 0; r < group.before.size() && replay > 0; ++r) {
      group.before[r] = random.integer(0, group.before[r]);
      group.after[r] = group.before[r] + (random.chance(0.2) ? 0 : group.qLen);
    }
    device.before.upload(group.before);
    device.after.upload(group.after);
    made.poison();
    cudaCheck(cudaDeviceSynchronize(), "inputs");
    cudaCheck(cudaGraphLaunch(executable, stream), "graph launch");
    cudaCheck(cudaStreamSynchronize(stream), "replay");
    expectMetadata(group, made);
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

void expectLocal(const RandomGroup& group, int topk, const std::vector<int32_t>& ids,
                 const std::vector<int32_t>& slots, const std::vector<int32_t>& bounds) {
  const Ownership& own = group.own;
  for (int t = 0; t < group.tokens(); ++t) {
    int owned = 0;
    for (int j = 0; j < topk; ++j) {
      const auto at = static_cast<size_t>(t) * topk + j;
      int64_t slot = -1;
      if (ids[at] >= 0 && layout::owner(ids[at], own.ranks, own.interleave) == own.rank) {
        const int64_t local = layout::localIndex(ids[at], own.ranks, own.interleave);
        slot = layout::slot(group.pages(t / group.qLen)[local / own.pageSize], local, own.pageSize);
        ++owned;
      }
      expect(slots[at] == slot, format("token %d, id %d became slot %d", t, ids[at], slots[at]));
    }
    expect(bounds[static_cast<size_t>(t)] == owned,
           format("token %d sees %d keys, said %d", t, owned, bounds[static_cast<size_t>(t)]));
  }
}

void choosesAndLocalizes(Random& random) {
  const RandomGroup group = randomGroup(random);
  const DeviceGroup device(group);
  const int topk = random.chance(0.2) ? 1 : static_cast<int>(random.integer(1, 2048));
  const std::vector<Source> sources = sourcesOf(random, group, 576);
  const DeviceArray<Source> deviceSources(sources);
  DeviceArray<int32_t> ids(static_cast<int64_t>(group.tokens()) * topk);
  DeviceArray<int32_t> slots(ids.count());
  DeviceArray<int32_t> bounds(group.tokens());
  ids.fill(0x77);
  slots.fill(0x77);
  bounds.fill(0x77);
  chooseKeys({5, 3, group.requests, group.qLen, topk, deviceSources.get(), device.before.get(),
              device.after.get(), ids.get()},
             nullptr);
  std::vector<int32_t> chosen = ids.download();
  for (int t = 0; t < group.tokens(); ++t) {
    const auto r = static_cast<size_t>(t / group.qLen);
    const int q = t % group.qLen;
    const TopkRow row = topkRow(5, 3, static_cast<int>(r), group.before[r] + q,
                                layout::visibleGlobal(group.after[r], group.qLen, q), topk, sources[r]);
    for (int j = 0; j < topk; ++j)
      expect(chosen[static_cast<size_t>(t) * topk + j] == topkId(row, j), format("token %d, entry %d", t, j));
  }
  // An indexer may say -1 anywhere.
  for (int32_t& id : chosen)
    if (random.chance(0.1)) id = -1;
  ids.upload(chosen);
  const StampProbe stamps;
  localize({group.own, group.requests, group.qLen, topk, ids.get(), device.pageTable.get(),
            device.tableBegin.get(), slots.get(), bounds.get()},
           nullptr, stamps.get());
  expectLocal(group, topk, chosen, slots.download(), bounds.download());
  ids.checkGuards("ids");
  slots.checkGuards("slots");
  bounds.checkGuards("bounds");
  stamps.check();
}

}  // namespace

void opsInputTests(Runner& runner) {
  const int times = runner.reduced() ? 2 : 20;
  randomTest(runner, "ops/inputs/bits-of-the-cpu", times, generatesTheBitsOfTheCpu);
  randomTest(runner, "ops/inputs/gather-queries", times, copiesQueries);
  randomTest(runner, "ops/metadata/deal", times * 3, metadataFollowsTheDeal);
  randomTest(runner, "ops/metadata/replay", times, metadataIsFreshInReplays);
  randomTest(runner, "ops/sparse/choose-localize", times, choosesAndLocalizes);
}

}  // namespace dcpscope::cuda::tests
