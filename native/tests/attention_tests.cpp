#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/bf16.h"
#include "core/layout.h"
#include "core/quantise.h"
#include "cpu/attention.h"
#include "cpu/kernels.h"
#include "cpu/plan.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

constexpr int kValueDim = dsmla::kLatent;
constexpr int kKeyDim = dsmla::kLatent + dsmla::kRope;
constexpr double kScale = 0.06;
constexpr double kLog2E = 1.44269504088896340736;

/** Numbers of one test, in order. */
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>((state_ = mix64(state_)) >> 8) % n; }
  bool one(int64_t in) { return below(in) == 0; }

 private:
  uint64_t state_;
};

int rowBytesOf(KvType type) {
  switch (type) {
    case KvType::fp32:
      return kKeyDim * 4;
    case KvType::bf16:
      return kKeyDim * 2;
    case KvType::fp8:
      return kKeyDim;
    case KvType::fp8DsMla:
      return dsmla::kRowBytes;
  }
  return 0;
}

/** A pool whose every byte is 0xff, a NaN in each format, but for the keys that were put into it. */
class Pool {
 public:
  Pool(KvType type, int pageSize, int64_t pages, uint64_t seed)
      : type_(type),
        rowBytes_(rowBytesOf(type)),
        source_(makeSource(static_cast<uint32_t>(seed), 0, 0, false, 1000, kKeyDim, kScale)),
        bytes_(static_cast<size_t>(pages * pageSize * rowBytes_), 0xff) {}

  /** Puts key `position` into a slot; returns its values as the kernel uses them. */
  std::vector<double> put(int64_t slot, int64_t position) {
    float wide[kKeyDim];
    uint16_t half[kKeyDim];
    kernels().generate.fp32(keyRow(source_, position), kKeyDim, wide);
    kernels().generate.bf16(keyRow(source_, position), kKeyDim, half);
    unsigned char* row = bytes_.data() + slot * rowBytes_;
    std::vector<double> values(kKeyDim);
    for (int d = 0; d < kKeyDim; ++d) values[static_cast<size_t>(d)] = static_cast<double>(fromBf16(half[d]));
    switch (type_) {
      case KvType::fp32:
        std::memcpy(row, wide, sizeof(wide));
        std::copy(wide, wide + kKeyDim, values.begin());
        break;
      case KvType::bf16:
        std::memcpy(row, half, sizeof(half));
        break;
      case KvType::fp8:
        quantiseFp8(half, kKeyDim, fp8Scale(false), row);
        for (int d = 0; d < kKeyDim; ++d)
          values[static_cast<size_t>(d)] = static_cast<double>(fromE4m3(row[d]));
        break;
      case KvType::fp8DsMla:
        dsmla::quantise(half, row);
        for (int d = 0; d < kValueDim; ++d) {
          float scale;
          std::memcpy(&scale, row + dsmla::kScalesAt + 4 * (d / dsmla::kGroup), 4);
          values[static_cast<size_t>(d)] = static_cast<double>(dsmla::value(row[d], scale));
        }
        break;
    }
    return values;
  }

  const unsigned char* data() const { return bytes_.data(); }
  int rowBytes() const { return rowBytes_; }
  const Source& source() const { return source_; }

 private:
  KvType type_;
  int rowBytes_;
  Source source_;
  std::vector<unsigned char> bytes_;
};

struct Truth {
  std::vector<double> out;
  double lse2;
};

Truth softmax(const std::vector<double>& q, const std::vector<std::vector<double>>& keys, double scale) {
  std::vector<double> scores;
  for (const auto& key : keys)
    scores.push_back(scale * std::inner_product(q.begin(), q.end(), key.begin(), 0.0));
  Truth truth{std::vector<double>(kValueDim, 0.0), -std::numeric_limits<double>::infinity()};
  if (keys.empty()) return truth;
  const double top = *std::max_element(scores.begin(), scores.end());
  double total = 0;
  for (size_t k = 0; k < keys.size(); ++k) {
    const double weight = std::exp(scores[k] - top);
    total += weight;
    for (size_t v = 0; v < kValueDim; ++v) truth.out[v] += weight * keys[k][v];
  }
  for (double& value : truth.out) value /= total;
  truth.lse2 = (top + std::log(total)) * kLog2E;
  return truth;
}

struct Queries {
  std::vector<unsigned char> bytes;
  std::vector<std::vector<double>> rows;
};

Queries queriesOf(const Source& source, KvType type, int rows) {
  Queries q{std::vector<unsigned char>(static_cast<size_t>(rows) * kKeyDim * 4), {}};
  for (int r = 0; r < rows; ++r) {
    std::vector<double> wide(kKeyDim);
    if (type == KvType::fp32) {
      auto* to = reinterpret_cast<float*>(q.bytes.data()) + r * kKeyDim;
      kernels().generate.fp32(queryRow(source, 7, r), kKeyDim, to);
      std::copy(to, to + kKeyDim, wide.begin());
    } else {
      auto* to = reinterpret_cast<uint16_t*>(q.bytes.data()) + r * kKeyDim;
      kernels().generate.bf16(queryRow(source, 7, r), kKeyDim, to);
      for (int d = 0; d < kKeyDim; ++d) wide[static_cast<size_t>(d)] = static_cast<double>(fromBf16(to[d]));
    }
    q.rows.push_back(wide);
  }
  return q;
}

/** What the kernel leaves of each row. */
struct Attended {
  std::vector<float> acc;
  std::vector<float> top;
  std::vector<float> total;
};

/** fp8 codes are used as they are: truth and kernel share the scale. */
double scaleOf(KvType type) {
  return kScale * (type == KvType::fp8 ? static_cast<double>(fp8Scale(false)) : 1.0);
}

Attended attend(AttentionTask task, const Queries& q) {
  const int cancel = 0;
  task.q = q.bytes.data();
  task.keyDim = kKeyDim;
  task.valueDim = kValueDim;
  task.scale2 = static_cast<float>(scaleOf(task.kvType) * kLog2E);
  task.cancel = &cancel;
  constexpr float poison = std::numeric_limits<float>::quiet_NaN();
  const auto rows = static_cast<size_t>(task.rows);
  std::vector<float> scratch(static_cast<size_t>(attentionScratch(kKeyDim, kUnitRows, kTileKeys)), poison);
  Attended left{std::vector<float>(rows * kValueDim, poison), std::vector<float>(rows, poison),
                std::vector<float>(rows, poison)};
  kernels().attention.attend(task, scratch.data(), {left.acc.data(), left.top.data(), left.total.data()});
  return left;
}

/** Runs `task` over keys that each row sees, and compares with doubles. */
void compare(const AttentionTask& task, const Queries& q,
             const std::vector<std::vector<std::vector<double>>>& seen) {
  const double scale = scaleOf(task.kvType);
  const auto [acc, top, total] = attend(task, q);
  for (int r = 0; r < task.rows; ++r) {
    const auto row = static_cast<size_t>(r);
    const Truth truth = softmax(q.rows[row], seen[row], scale);
    if (seen[row].empty()) {
      EXPECT(total[row] == 0);
      continue;
    }
    double error = 0;
    double norm = 0;
    for (size_t v = 0; v < kValueDim; ++v) {
      const double got = static_cast<double>(acc[row * kValueDim + v]) / static_cast<double>(total[row]);
      error += (got - truth.out[v]) * (got - truth.out[v]);
      norm += truth.out[v] * truth.out[v];
    }
    EXPECT(std::sqrt(error / norm) < 1e-5);
    EXPECT(std::abs(static_cast<double>(top[row]) + std::log2(static_cast<double>(total[row])) - truth.lse2) <
           1e-4);
  }
}

constexpr KvType kTypes[] = {KvType::fp32, KvType::bf16, KvType::fp8, KvType::fp8DsMla};

/** What lies behind the last key of a page and in pages of others never matters, nor do ids behind the last
 * page. */
void denseReadsItsKeysAlone() {
  Draw draw(11);
  for (int i = 0; i < 48; ++i) {
    const KvType type = kTypes[i % 4];
    const int pageSizes[] = {1, 3, 16, 64};
    const int pageSize = pageSizes[draw.below(4)];
    const int64_t length = draw.below(200);
    const int64_t columns = (length + pageSize - 1) / pageSize;
    Pool pool(type, pageSize, 2 * columns + 2, static_cast<uint64_t>(i));
    std::vector<int32_t> pages(static_cast<size_t>(columns) + 3, std::numeric_limits<int32_t>::max());
    for (int64_t c = 0; c < columns; ++c)
      pages[static_cast<size_t>(c)] = static_cast<int32_t>(2 * (columns - c) - draw.below(2));
    std::vector<std::vector<double>> keys;
    for (int64_t l = 0; l < length; ++l)
      keys.push_back(pool.put(layout::slot(pages[static_cast<size_t>(l / pageSize)], l, pageSize), l));
    const int rows = 1 + static_cast<int>(draw.below(6));
    const Queries q = queriesOf(pool.source(), type, rows);
    std::vector<int32_t> bounds;
    std::vector<std::vector<std::vector<double>>> seen;
    for (int r = 0; r < rows; ++r) {
      const int64_t hidden = std::min<int64_t>(rows - 1 - r, length);
      bounds.push_back(static_cast<int32_t>(length - hidden));
      seen.emplace_back(keys.begin(), keys.end() - hidden);
    }
    AttentionTask task{};
    task.rows = rows;
    task.bounds = bounds.data();
    task.pool = pool.data();
    task.rowBytes = pool.rowBytes();
    task.pages = pages.data();
    task.pageSize = pageSize;
    task.kvType = type;
    task.keyEnd = bounds.back();
    compare(task, q, seen);
  }
}

/** -1 may stand anywhere, also everywhere, and slots come in any order. */
void sparseReadsItsSlotsAlone() {
  Draw draw(12);
  for (int i = 0; i < 48; ++i) {
    const KvType type = kTypes[i % 4];
    const int pageSize = 16;
    Pool pool(type, pageSize, 40, static_cast<uint64_t>(i));
    const int64_t topk = 1 + draw.below(300);
    // From none to all, in runs and alone.
    const int64_t owned = draw.below(5);
    std::vector<int32_t> slots;
    std::vector<std::vector<double>> keys;
    for (int64_t j = 0; j < topk; ++j) {
      if (draw.below(4) >= owned) {
        slots.push_back(-1);
        continue;
      }
      const auto slot = static_cast<int32_t>((j * 2 + draw.below(2)) * 367 % 640);
      slots.push_back(slot);
      keys.push_back(pool.put(slot, slot));
    }
    const int rows = 1 + static_cast<int>(draw.below(6));
    AttentionTask task{};
    task.rows = rows;
    task.pool = pool.data();
    task.rowBytes = pool.rowBytes();
    task.pageSize = pageSize;
    task.slots = slots.data();
    task.kvType = type;
    task.keyEnd = topk;
    compare(task, queriesOf(pool.source(), type, rows),
            std::vector<std::vector<std::vector<double>>>(static_cast<size_t>(rows), keys));
  }
}

/** A key of NaN makes NaN of the rows that see it, with their lse, wherever in the row it stands. */
void keysOfNanShow() {
  constexpr int kPage = 16;
  constexpr int kKeys = 150;
  for (const KvType type : kTypes)
    for (const int32_t bad : {0, 70, kKeys - 1}) {
      Pool pool(type, kPage, 20, 5);
      std::vector<int32_t> slots;
      for (int32_t key = 0; key < kKeys; ++key) {
        slots.push_back(key);
        if (key != bad) pool.put(key, key);
      }
      AttentionTask task{};
      task.rows = 2;
      task.pool = pool.data();
      task.rowBytes = pool.rowBytes();
      task.pageSize = kPage;
      task.slots = slots.data();
      task.kvType = type;
      task.keyEnd = kKeys;
      for (const float total : attend(task, queriesOf(pool.source(), type, 2)).total)
        EXPECT(std::isnan(total));
    }
}

}  // namespace

void attention() {
  denseReadsItsKeysAlone();
  sparseReadsItsSlotsAlone();
  keysOfNanShow();
}

}  // namespace dcpscope::tests
