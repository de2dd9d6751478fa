#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/fault_rules.h"
#include "cuda/ops/cache.h"
#include "cuda/ops/faults.h"
#include "cuda/ops/sparse.h"
#include "cuda/tests/ops_bench.h"
#include "cuda/tests/suites.h"

namespace dcpscope::cuda::tests {
namespace {

std::vector<float> randoms(Random& random, int64_t count, bool fp32) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(rounded(random.normal(), fp32));
  return values;
}

void fillsPartials(Random& random, bool fp32) {
  const int64_t rows = random.integer(1, 300);
  const int width = 16 * static_cast<int>(random.integer(1, 32));
  const int64_t first = random.integer(0, rows);
  const int64_t end = random.integer(first, rows);
  const float outValue = random.pick({4096.0F, NAN});
  std::vector<float> wantOut = randoms(random, rows * width, fp32);
  std::vector<float> wantLse = randoms(random, rows, true);
  Values out(rows * width, fp32);
  out.upload(wantOut);
  const DeviceArray<float> lse(wantLse);
  fillPartial({first, end, width, fp32, out.get(), lse.get(), outValue, 64.0F}, nullptr);
  std::fill(wantOut.begin() + first * width, wantOut.begin() + end * width, outValue);
  std::fill(wantLse.begin() + first, wantLse.begin() + end, 64.0F);
  expectSame(out.download(), wantOut, "out");
  expectSame(lse.download(), wantLse, "lse");
  out.checkGuards("out");
  lse.checkGuards("lse");
}

void roundsValues(Random& random) {
  std::vector<float> values = randoms(random, random.integer(1, 3000), true);
  for (float& value : values)
    if (random.chance(0.1)) value = random.pick({INFINITY, -INFINITY, NAN, 0.0F, 3e38F});
  const DeviceArray<float> device(values);
  roundToBf16(device.get(), device.count(), nullptr);
  for (float& value : values) value = rounded(value, false);
  expectSame(device.download(), values, "rounded lse");
  device.checkGuards("lse");
}

void rulesBounds(Random& random) {
  const auto tokens = static_cast<int>(random.integer(1, 700));
  const NeutralRule rule{random.chance(0.3), random.chance(0.3), static_cast<int>(random.integer(0, tokens))};
  std::vector<int32_t> bounds;
  for (int t = 0; t < tokens; ++t)
    bounds.push_back(random.chance(0.4) ? 0 : static_cast<int32_t>(random.integer(1, 9)));
  const DeviceArray<int32_t> given(bounds);
  DeviceArray<int32_t> ruled(tokens);
  ruled.fill(0x77);
  ruleBounds(rule, tokens, given.get(), ruled.get(), nullptr);
  const std::vector<int32_t> got = ruled.download();
  for (int t = 0; t < tokens; ++t) {
    const bool clears = t < rule.end && (rule.all || (bounds[static_cast<size_t>(t)] == 0 && !rule.keeps));
    expect(got[static_cast<size_t>(t)] == (clears ? 0 : 1), format("bound of token %d", t));
  }
  ruled.checkGuards("bounds");
}

void misreadsPools(Random& random) {
  const int rowBytes = random.pick({576, 656});
  const int stepBytes = otherRowBytes(rowBytes);
  const int64_t rows = random.integer(1, 400);
  const int64_t bytes = rows * rowBytes;
  std::vector<uint8_t> pool;
  for (int64_t i = 0; i < bytes; ++i) pool.push_back(static_cast<uint8_t>(random.integer(0, 255)));
  const DeviceArray<uint8_t> given(pool);
  DeviceArray<uint8_t> seen(bytes);
  seen.fill(0x77);
  misread({given.get(), bytes, rows, rowBytes, stepBytes, seen.get()}, nullptr);
  const std::vector<uint8_t> got = seen.download();
  for (int64_t i = 0; i < bytes; ++i) {
    const int64_t from = i / rowBytes * stepBytes + i % rowBytes;
    const uint8_t want = from < bytes ? pool[static_cast<size_t>(from)] : 0;
    expect(got[static_cast<size_t>(i)] == want,
           format("byte %lld of row %lld", static_cast<long long>(i % rowBytes),
                  static_cast<long long>(i / rowBytes)));
  }
  seen.checkGuards("rows");
}

/** Ids of any kind through tables that have room for the global length. */
void localizesByRules(Random& random) {
  const auto ranks = static_cast<int>(random.integer(1, 8));
  const auto rank = static_cast<int>(random.chance(0.5) ? ranks - 1 : random.integer(0, ranks - 1));
  const int interleave = random.pick({1, 4, 16});
  const int pageSize = interleave * static_cast<int>(random.integer(1, 4));
  const auto requests = static_cast<int>(random.integer(1, 5));
  const auto qLen = static_cast<int>(random.integer(1, 3));
  const auto topk = static_cast<int>(random.integer(1, 600));
  const ChoiceRule rule{rank, ranks, interleave, random.chance(0.5), random.chance(0.5), random.chance(0.5)};
  constexpr int kRoom = 100;
  std::vector<int32_t> table;
  std::vector<int64_t> begin;
  std::vector<int32_t> columns;
  for (int r = 0; r < requests; ++r) {
    begin.push_back(static_cast<int64_t>(r) * kRoom);
    columns.push_back(static_cast<int32_t>(random.integer(0, kRoom)));
  }
  for (int i = 0; i < requests * kRoom; ++i)
    table.push_back(static_cast<int32_t>(random.integer(0, 1 << 20)));
  std::vector<int32_t> ids;
  for (int i = 0; i < requests * qLen * topk; ++i)
    ids.push_back(random.chance(0.2) ? -1 : static_cast<int32_t>(random.integer(0, kRoom * pageSize - 1)));
  const DeviceArray<int32_t> deviceTable(table);
  const DeviceArray<int64_t> deviceBegin(begin);
  const DeviceArray<int32_t> deviceColumns(columns);
  const DeviceArray<int32_t> deviceIds(ids);
  DeviceArray<int32_t> slots(static_cast<int64_t>(ids.size()));
  DeviceArray<int32_t> bounds(requests * qLen);
  slots.fill(0x77);
  bounds.fill(0x77);
  const StampProbe stamps;
  localizeBy(rule, deviceColumns.get(),
             {{rank, ranks, interleave, pageSize},
              requests,
              qLen,
              topk,
              deviceIds.get(),
              deviceTable.get(),
              deviceBegin.get(),
              slots.get(),
              bounds.get()},
             nullptr, stamps.get());
  const std::vector<int32_t> gotSlots = slots.download();
  const std::vector<int32_t> gotBounds = bounds.download();
  for (int t = 0; t < requests * qLen; ++t) {
    const auto r = static_cast<size_t>(t / qLen);
    int32_t counted = 0;
    for (int j = 0; j < topk; ++j) {
      const auto at = static_cast<size_t>(t) * static_cast<size_t>(topk) + static_cast<size_t>(j);
      const Choice choice = rule.of(ids[at]);
      counted += choice.counts ? 1 : 0;
      const int32_t want = choice.slot(&table[static_cast<size_t>(begin[r])], columns[r], pageSize);
      expect(gotSlots[at] == want,
             format("token %d, id %d became slot %d instead of %d", t, ids[at], gotSlots[at], want));
    }
    expect(gotBounds[static_cast<size_t>(t)] == counted, format("keys of token %d", t));
  }
  slots.checkGuards("slots");
  bounds.checkGuards("bounds");
  stamps.check();
}

/** Several tokens share a slot: the key of the last one stays, whole. */
void appendsInOrder(Random& random) {
  const KvType type = random.pick({KvType::bf16, KvType::fp8, KvType::fp8DsMla});
  const int rowBytes = type == KvType::bf16 ? 1152 : type == KvType::fp8 ? 576 : 656;
  const CacheFormat format{type, 576, rowBytes, type == KvType::fp8 ? 0.03F : 1.0F};
  const auto tokens = static_cast<int>(random.integer(1, 80));
  constexpr int kSlots = 8;
  std::vector<int64_t> slots;
  std::vector<int64_t> own;
  for (int t = 0; t < tokens; ++t) {
    slots.push_back(random.chance(0.2) ? -1 : random.integer(0, kSlots - 1));
    own.push_back(t);
  }
  Values keys(static_cast<int64_t>(tokens) * format.keyDim, false);
  keys.upload(randoms(random, keys.count(), false));
  DeviceArray<uint8_t> pool(static_cast<int64_t>(kSlots) * rowBytes);
  DeviceArray<uint8_t> apart(static_cast<int64_t>(tokens) * rowBytes);
  pool.fill(0);
  const DeviceArray<int64_t> deviceSlots(slots);
  const DeviceArray<int64_t> deviceOwn(own);
  const StampProbe stamps;
  appendInOrder({format, tokens, keys.get(), deviceSlots.get(), pool.get()}, nullptr, stamps.get());
  append({format, tokens, keys.get(), deviceOwn.get(), apart.get()}, nullptr, nullptr);
  const std::vector<uint8_t> got = pool.download();
  const std::vector<uint8_t> rows = apart.download();
  std::vector<uint8_t> want(got.size(), 0);
  for (int t = 0; t < tokens; ++t)
    if (slots[static_cast<size_t>(t)] >= 0)
      std::copy_n(rows.begin() + static_cast<int64_t>(t) * rowBytes, rowBytes,
                  want.begin() + slots[static_cast<size_t>(t)] * rowBytes);
  expect(got == want, "rows that tokens share");
  pool.checkGuards("pool");
  stamps.check();
}

}  // namespace

void opsFaultTests(Runner& runner) {
  const int times = runner.reduced() ? 2 : 20;
  randomTest(runner, "ops/faults/fill/bf16", times, [](Random& random) { fillsPartials(random, false); });
  randomTest(runner, "ops/faults/fill/fp32", times, [](Random& random) { fillsPartials(random, true); });
  randomTest(runner, "ops/faults/round", times, roundsValues);
  randomTest(runner, "ops/faults/rule", times, rulesBounds);
  randomTest(runner, "ops/faults/misread", times, misreadsPools);
  randomTest(runner, "ops/faults/localize", times, localizesByRules);
  randomTest(runner, "ops/faults/append-in-order", times, appendsInOrder);
}

}  // namespace dcpscope::cuda::tests
