#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "core/bf16.h"
#include "core/block.h"
#include "core/deal.h"
#include "core/error.h"
#include "core/layout.h"
#include "core/lse.h"
#include "core/memory.h"
#include "core/pages.h"
#include "core/simd.h"
#include "core/trace.h"
#include "cpu/kernels.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

namespace vec = dcpscope::DCPSCOPE_ISA;

/** Token by token: a rank keeps what it is dealt in order, and behind the prompt rank 0 begins again. */
void dealsBeginAnewBehindThePrompt() {
  constexpr int64_t P = 12;
  for (const int64_t c : {1, 2, 3, 8})
    for (const int64_t I : {1, 4, 12})
      for (const int64_t prompt : {int64_t{0}, int64_t{1}, int64_t{37}, int64_t{96}, Deal::kGoesOn}) {
        const Deal deal{c, I, prompt};
        std::vector<int64_t> held(static_cast<size_t>(c), 0);
        for (int64_t t = 0; t < 200; ++t) {
          int64_t most = 0;
          int64_t least = t;
          for (int64_t r = 0; r < c; ++r) {
            EXPECT(deal.localLength(t, r) == held[static_cast<size_t>(r)]);
            most = std::max(most, held[static_cast<size_t>(r)]);
            least = std::min(least, held[static_cast<size_t>(r)]);
          }
          EXPECT(deal.columns(t, P) == (most + P - 1) / P && deal.openColumn(t, P) == least / P);
          const int64_t owner = (t < prompt ? t : t - prompt) / I % c;
          EXPECT(deal.owner(t) == owner);
          EXPECT(deal.localIndex(t) == held[static_cast<size_t>(owner)]++);
          EXPECT(deal.globalIndex(deal.localIndex(t), owner) == t);
          if (prompt == Deal::kGoesOn) EXPECT(deal.columns(t, P) == layout::columns(t, c, P));
        }
      }
}

void layoutMatchesDefinition() {
  for (int64_t c = 1; c <= 6; ++c)
    for (int64_t I = 1; I <= 5; ++I) {
      std::vector<int64_t> held(static_cast<size_t>(c), 0);
      for (int64_t t = 0; t < 200; ++t) {
        for (int64_t r = 0; r < c; ++r)
          EXPECT(layout::localLength(t, r, c, I) == held[static_cast<size_t>(r)]);
        const int64_t owner = layout::owner(t, c, I);
        EXPECT(layout::localIndex(t, c, I) == held[static_cast<size_t>(owner)]++);
        EXPECT(layout::globalIndex(layout::localIndex(t, c, I), owner, c, I) == t);
      }
    }
  EXPECT(layout::localLength(-3, 0, 2, 1) == 0);
}

void bf16RoundsToNearestEven() {
  for (uint32_t bits = 0; bits < 0xffff0000U; bits += 4099) {
    const float value = std::bit_cast<float>(bits);
    const float rounded = fromBf16(toBf16(value));
    if (std::isnan(value)) {
      EXPECT(std::isnan(rounded));
      continue;
    }
    const float low = std::bit_cast<float>(bits & 0xffff0000U);
    const float high = std::bit_cast<float>((bits & 0xffff0000U) + 0x10000U);
    EXPECT(rounded == low || rounded == high);
    if (std::isfinite(low) && std::isfinite(high))
      EXPECT(std::abs(static_cast<double>(value) - rounded) <= std::abs(static_cast<double>(high) - low) / 2);
  }
}

void vectorsRoundLikeScalars() {
  float in[vec::kLanes];
  uint16_t out[vec::kLanes];
  for (uint32_t bits = 0; bits < 0xffffff00U; bits += 65521) {
    for (int i = 0; i < vec::kLanes; ++i) in[i] = std::bit_cast<float>(bits + static_cast<uint32_t>(i));
    vec::storeFloat(out, vec::load<vec::vf>(in));
    for (int i = 0; i < vec::kLanes; ++i) EXPECT(out[i] == toBf16(in[i]));
  }
}

void exponentialIsExact() {
  double worstFloat = 0;
  double worstDouble = 0;
  for (double x = 0; x > -120; x -= 0.00317) {
    const auto single = static_cast<float>(x);
    const double want = std::exp2(static_cast<double>(single));
    const double got = vec::exp2Negative(vec::splat<vec::vf>(single))[0];
    worstFloat = std::max(worstFloat, std::abs(got / want - 1));
    worstDouble =
        std::max(worstDouble, std::abs(vec::exp2Negative(vec::splat<vec::vd>(x))[0] / std::exp2(x) - 1));
  }
  EXPECT(worstFloat < 2e-7);
  EXPECT(worstDouble < 1e-15);
  EXPECT(vec::exp2Negative(vec::splat<vec::vf>(-INFINITY))[0] == 0);
  EXPECT(vec::exp2Negative(vec::splat<vec::vd>(-INFINITY))[0] == 0);
  EXPECT(vec::exp2Negative(vec::vf{})[0] == 1);
  EXPECT(std::isnan(vec::exp2Negative(vec::splat<vec::vf>(NAN))[0]));
  EXPECT(std::isnan(vec::exp2Negative(vec::splat<vec::vd>(static_cast<double>(NAN)))[0]));
}

void vectorSumsAreInOrder() {
  vec::vf v[vec::kLanes];
  for (int i = 0; i < vec::kLanes; ++i)
    for (int lane = 0; lane < vec::kLanes; ++lane) v[i][lane] = static_cast<float>(i * 100 + lane);
  const vec::vf total = vec::sums<vec::kLanes>(v);
  const int lanes = vec::kLanes * (vec::kLanes - 1) / 2;
  for (int i = 0; i < vec::kLanes; ++i) EXPECT(total[i] == static_cast<float>(i * 100 * vec::kLanes + lanes));
}

/** Bytes of generated rows, so that a change of the generator or a machine that differs is noticed. */
void generatedDataIsPinned() {
  const Source plain = makeSource(1, 0, 0, false, 1000, 576, 0.05);
  const Source needles = makeSource(7, 3, 2, true, 1000, 576, 0.05);
  uint64_t digest = 0;
  const auto add = [&](const RowSpec& spec) {
    float row[576];
    uint16_t half[576];
    kernels().generate.fp32(spec, 576, row);
    kernels().generate.bf16(spec, 576, half);
    for (int d = 0; d < 576; ++d) {
      EXPECT(half[d] == toBf16(row[d]));
      EXPECT(row[d] == generatedValue(spec, d));
      digest = mix64(digest ^ std::bit_cast<uint32_t>(row[d]));
    }
  };
  for (int64_t t = 0; t < 50; ++t) {
    add(keyRow(plain, t));
    add(queryRow(plain, t, 5));
    add(keyRow(needles, t));
    add(queryRow(needles, t, 0));
  }
  for (const int64_t at : needles.needleAt) add(keyRow(needles, at));
  EXPECT(digest == kGeneratedDigest);
}

void generatedDataIsNormal() {
  const Source source = makeSource(3, 1, 4, false, 1000, 576, 0.05);
  double sum = 0;
  double squares = 0;
  double neighbours = 0;
  constexpr int kRows = 400;
  for (int64_t t = 0; t < kRows; ++t) {
    float row[576];
    kernels().generate.fp32(keyRow(source, t), 576, row);
    for (int d = 0; d < 576; ++d) {
      sum += static_cast<double>(row[d]);
      squares += static_cast<double>(row[d]) * row[d];
      if (d > 0) neighbours += static_cast<double>(row[d]) * row[d - 1];
    }
  }
  constexpr double n = kRows * 576.0;
  EXPECT(std::abs(sum / n) < 0.01);
  EXPECT(std::abs(squares / n - 1) < 0.01);
  EXPECT(std::abs(neighbours / n) < 0.01);
}

void lseFollowsTheNanRules() {
  constexpr float inf = INFINITY;
  const float mixed[] = {1.0F, NAN, inf, -inf, 2.0F};
  for (const bool base2 : {false, true}) {
    const double total = lse::merged(mixed, 5, 1, base2);
    const double want = lse::logarithm(lse::power(1, base2) + lse::power(2, base2), base2);
    EXPECT(std::abs(total - want) < 1e-12);
    float weights = 0;
    for (const float own : mixed) weights += lse::weight(own, total, {base2});
    EXPECT(std::abs(weights - 1) < 1e-6F);
    EXPECT(lse::weight(NAN, total, {base2}) == 0 && lse::weight(inf, total, {base2}) == 0);
    const float none[] = {NAN, inf, -inf};
    EXPECT(lse::merged(none, 3, 1, base2) == -inf);
    EXPECT(lse::weight(-inf, -inf, {base2}) == 0);
    EXPECT(std::isnan(lse::weight(-inf, -inf, {base2, true})));
  }
}

void ringWrapsAndCountsWhatItLost() {
  Ring ring(pageColumns(), 5);
  for (int32_t i = 0; i < 4; ++i) ring.push(PageRow{i, 0, 0, 0, 10 * i});
  ring.discard(3);
  for (int32_t i = 4; i < 8; ++i) ring.push(PageRow{i, 0, 0, 0, 10 * i});
  EXPECT(ring.size() == 5 && ring.room() == 0 && ring.dropped() == 0);
  int32_t steps[5];
  int32_t valid[5];
  ring.copy(0, 5, steps);
  ring.copy(4, 5, valid);
  for (int32_t i = 0; i < 5; ++i) EXPECT(steps[i] == i + 3 && valid[i] == 10 * (i + 3));
  ring.push(PageRow{});
  EXPECT(ring.dropped() == 1 && ring.size() == 5);
  const int64_t mark = ring.mark();
  ring.discard(2);
  ring.push(PageRow{});
  ring.rewind(mark);
  EXPECT(ring.size() == 3);
}

void pagesLeaveThePoolOnceEach() {
  Config config;
  config.contextLens = {1000, 500};
  config.pageSize = 4;
  config.shuffledPages = true;
  const Shape shape(config);
  PageTable table(config, shape);
  EXPECT(table.extend(0, 251) && table.extend(1, 126));
  EXPECT(table.pagesTaken() == shape.poolPages);
  std::vector<int32_t> ids(table.row(0), table.row(0) + 251);
  ids.insert(ids.end(), table.row(1), table.row(1) + 126);
  std::sort(ids.begin(), ids.end());
  for (size_t i = 0; i < ids.size(); ++i) EXPECT(ids[i] == static_cast<int32_t>(i));
  EXPECT(!table.extend(0, 252));
}

void memoryIsRefusedByName() {
  requireMemory({{"small", 1 << 20}}, int64_t{1} << 30);
  try {
    requireMemory({{"small", 1 << 20}, {"large", int64_t{2} << 30}}, int64_t{1} << 30);
    EXPECT(false);
  } catch (const EngineError& error) {
    EXPECT(error.code() == ErrorCode::memory);
    EXPECT(std::strstr(error.what(), "the largest part is large with 2.0 GiB") != nullptr);
  }
  const MemoryAvailable memory = memoryAvailable();
  EXPECT(memory.available > 0 && memory.available <= memory.total);
}

/** What `f` is refused with; empty when it is not. */
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const EngineError& error) {
    EXPECT(error.code() == ErrorCode::config);
    return error.what();
  }
  return "";
}

void poolsStayAddressable() {
  Config config;
  config.contextLens = {1};
  config.pageSize = 64;
  config.poolTokens = int64_t{1} << 31;
  const auto require = [&] { return refusal([&] { requireAddressablePool(config, Shape(config)); }); };
  EXPECT(require().empty());
  config.topk = 1;
  EXPECT(require().find("poolTokens: the pool of a rank holds at most 2^31 - 1 tokens") == 0);
  config.topk = 0;
  config.cuda = true;
  EXPECT(require().find("got 2147483648; use more ranks") != std::string::npos);
  config.poolTokens -= config.pageSize;
  EXPECT(require().empty());
  config.cuda = false;
  config.pageSize = 1;
  config.poolTokens = int64_t{1} << 31;
  EXPECT(require() == "poolTokens: the pool of a rank has at most 2^31 - 1 pages");
}

void poolsDoNotOverflow() {
  Config config;
  config.contextLens = {1};
  config.ranks = 64;
  config.heads = 64;
  config.layers = 256;
  config.ropeDim = 0;
  config.pageSize = 1024;
  // 2^10 bytes a token: 2^64 bytes together, which 64 bits take for nothing.
  config.poolTokens = int64_t{1} << 40;
  EXPECT(refusal([&] { validate(config); }) ==
         "poolTokens: the pools of all ranks and layers must be at most 2^60 bytes");
  config.poolTokens = int64_t{1} << 36;
  EXPECT(refusal([&] { validate(config); }).empty());
}

/** On either side of the size from which memory is mapped. */
void blocksAreZeroedAndMove() {
  for (const int64_t count : {int64_t{1}, int64_t{5000}, int64_t{3} << 20}) {
    Block<int64_t> block(count);
    EXPECT(reinterpret_cast<uintptr_t>(block.data()) % 4096 == 0 && block.size() == count);
    EXPECT(std::all_of(block.data(), block.data() + count, [](int64_t value) { return value == 0; }));
    block[count - 1] = 7;
    const Block<int64_t> moved = std::move(block);
    EXPECT(moved[count - 1] == 7);
  }
  // Far more than any machine has.
  bool refused = false;
  try {
    const Block<unsigned char> block(int64_t{1} << 62);
  } catch (const EngineError& error) {
    refused = error.code() == ErrorCode::memory;
  }
  EXPECT(refused);
}

}  // namespace

void core() {
  layoutMatchesDefinition();
  dealsBeginAnewBehindThePrompt();
  bf16RoundsToNearestEven();
  vectorsRoundLikeScalars();
  exponentialIsExact();
  vectorSumsAreInOrder();
  generatedDataIsPinned();
  generatedDataIsNormal();
  lseFollowsTheNanRules();
  ringWrapsAndCountsWhatItLost();
  pagesLeaveThePoolOnceEach();
  memoryIsRefusedByName();
  poolsStayAddressable();
  poolsDoNotOverflow();
  blocksAreZeroedAndMove();
}

}  // namespace dcpscope::tests
