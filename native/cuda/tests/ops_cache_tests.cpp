#include <cstring>

#include "core/bf16.h"
#include "core/layout.h"
#include "core/quantise.h"
#include "cuda/tests/ops_group.h"
#include "cuda/tests/suites.h"

namespace dcpscope::cuda::tests {
namespace {

constexpr int kUntouched = 0x5a;

CacheFormat randomFormat(Random& random, KvType type) {
  const int keyDim = type == KvType::fp8DsMla ? 576 : 16 * static_cast<int>(random.integer(1, 48));
  const int rowBytes = type == KvType::fp8DsMla ? dsmla::kRowBytes
                       : type == KvType::fp8    ? keyDim
                                                : 2 * keyDim;
  const bool grouped = type != KvType::fp8DsMla && random.chance(0.5);
  const int kvHeads = grouped ? static_cast<int>(random.integer(1, 9)) : 0;
  return {type, keyDim, cachedRows(kvHeads) * rowBytes,
          type == KvType::fp8 ? fp8Scale(random.chance(0.5)) : 1.0F, kvHeads};
}

/** One row as core/quantise.h writes it. */
std::vector<uint8_t> rowOf(const CacheFormat& format, const uint16_t* values) {
  std::vector<uint8_t> row(static_cast<size_t>(format.rowBytes / cachedRows(format.kvHeads)));
  if (format.type == KvType::fp8DsMla)
    dsmla::quantise(values, row.data());
  else if (format.type == KvType::fp8)
    quantiseFp8(values, format.keyDim, format.scale, row.data());
  else
    std::memcpy(row.data(), values, row.size());
  return row;
}

void expectPool(const GuardedBytes& pool, const std::vector<uint8_t>& want, int rowBytes) {
  std::vector<uint8_t> got(want.size());
  cudaCheck(cudaMemcpy(got.data(), pool.data(), got.size(), cudaMemcpyDeviceToHost), "pool");
  for (size_t i = 0; i < want.size(); ++i)
    expect(got[i] == want[i],
           format("slot %zu, byte %zu is %02x instead of %02x", i / rowBytes, i % rowBytes, got[i], want[i]));
  pool.checkGuards("pool");
}

void fillsWhatTheRankOwns(Random& random, KvType type) {
  const Ownership own = randomOwnership(random);
  const CacheFormat format = randomFormat(random, type);
  const int64_t length = random.integer(1, 1200);
  const auto pages =
      static_cast<int32_t>((length + own.pageSize * own.ranks - 1) / (own.pageSize * own.ranks) + 3);
  std::vector<int32_t> table(static_cast<size_t>(pages));
  std::iota(table.begin(), table.end(), 0);
  random.shuffle(table);
  const Source source = makeSource(static_cast<uint32_t>(random.integer(0, 1 << 30)), 2, 1,
                                   random.chance(0.5), length, format.keyDim, 0.05);
  const DeviceArray<int32_t> devicePages(table);
  GuardedBytes pool(static_cast<int64_t>(pages) * own.pageSize * format.rowBytes);
  pool.fill(kUntouched);
  const int64_t middle = random.integer(0, length);
  fill({own, format, source, 0, middle, devicePages.get(), pool.data()}, nullptr);
  fill({own, format, source, middle, length, devicePages.get(), pool.data()}, nullptr);
  std::vector<uint8_t> want(static_cast<size_t>(pool.bytes()), kUntouched);
  std::vector<uint16_t> values(static_cast<size_t>(format.keyDim));
  for (int64_t t = 0; t < length; ++t) {
    if (layout::owner(t, own.ranks, own.interleave) != own.rank) continue;
    const int64_t local = layout::localIndex(t, own.ranks, own.interleave);
    const int64_t slot = layout::slot(table[static_cast<size_t>(local / own.pageSize)], local, own.pageSize);
    auto to = want.begin() + slot * format.rowBytes;
    for (int part = 0; part < cachedRows(format.kvHeads); ++part) {
      const RowSpec spec = cachedRow(source, t, part, format.kvHeads);
      for (int d = 0; d < format.keyDim; ++d)
        values[static_cast<size_t>(d)] = toBf16(generatedValue(spec, d));
      const std::vector<uint8_t> row = rowOf(format, values.data());
      to = std::copy(row.begin(), row.end(), to);
    }
  }
  expectPool(pool, want, format.rowBytes);
}

/** Keys of every kind that a cache has to survive: tiny, huge, zero and NaN (of infinite ones machines differ
 * in the sign of the NaN). */
uint16_t anyKey(Random& random, float scale) {
  if (random.chance(0.01)) return toBf16(random.pick({0.0F, -0.0F, 1e-30F, 3e38F, -3e38F, NAN}));
  return toBf16(random.normal() * scale);
}

void appendsToSlots(Random& random, KvType type) {
  const CacheFormat format = randomFormat(random, type);
  const auto tokens = static_cast<int>(random.integer(1, 300));
  const int64_t poolSlots = tokens + random.integer(1, 50);
  std::vector<int64_t> order(static_cast<size_t>(poolSlots));
  std::iota(order.begin(), order.end(), int64_t{0});
  random.shuffle(order);
  std::vector<int64_t> slots;
  std::vector<uint16_t> keys;
  for (int t = 0; t < tokens; ++t) {
    slots.push_back(random.chance(0.3) ? -1 : order[static_cast<size_t>(t)]);
    const float scale = random.pick({1.0F, 1e-6F, 100.0F, 0.0F});
    for (int d = 0; d < cachedRows(format.kvHeads) * format.keyDim; ++d)
      keys.push_back(anyKey(random, scale));
  }
  const DeviceArray<int64_t> deviceSlots(slots);
  const DeviceArray<uint16_t> deviceKeys(keys);
  GuardedBytes pool(poolSlots * format.rowBytes);
  pool.fill(kUntouched);
  const StampProbe stamps;
  append({format, tokens, deviceKeys.get(), deviceSlots.get(), pool.data()}, nullptr, stamps.get());
  std::vector<uint8_t> want(static_cast<size_t>(pool.bytes()), kUntouched);
  for (int t = 0; t < tokens; ++t) {
    if (slots[static_cast<size_t>(t)] < 0) continue;
    auto to = want.begin() + slots[static_cast<size_t>(t)] * format.rowBytes;
    for (int part = 0; part < cachedRows(format.kvHeads); ++part) {
      const auto from = static_cast<size_t>(t) * cachedRows(format.kvHeads) + part;
      const std::vector<uint8_t> row = rowOf(format, &keys[from * format.keyDim]);
      to = std::copy(row.begin(), row.end(), to);
    }
  }
  expectPool(pool, want, format.rowBytes);
  stamps.check();
}

}  // namespace

void opsCacheTests(Runner& runner) {
  const int times = runner.reduced() ? 2 : 20;
  const struct {
    const char* name;
    KvType type;
  } kinds[] = {{"bf16", KvType::bf16}, {"fp8", KvType::fp8}, {"fp8_ds_mla", KvType::fp8DsMla}};
  for (const auto& kind : kinds) {
    randomTest(runner, std::string("ops/cache/fill/") + kind.name, times,
               [&](Random& random) { fillsWhatTheRankOwns(random, kind.type); });
    randomTest(runner, std::string("ops/cache/append/") + kind.name, times,
               [&](Random& random) { appendsToSlots(random, kind.type); });
  }
}

}  // namespace dcpscope::cuda::tests
