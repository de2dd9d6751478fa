#include "cpu/attend_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/attend.h"
#include "core/block.h"
#include "core/cores.h"
#include "core/error.h"
#include "cpu/kernels.h"
#include "cpu/pool.h"

namespace dcpscope {
namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kLog2E = 1.44269504088896340736;
/** Most tokens of one unit, so that long segments are spread over the cores, and multiply-adds that are worth
 * threads. */
constexpr int64_t kUnitTokens = 512;
constexpr double kWorthThreads = 2e6;

/** Heads that share a key head, over some tokens of one segment. */
struct Unit {
  int segment;
  int64_t begin;
  int64_t end;
  int kvHead;
  /** Place in `order`, and how many. */
  int firstHead;
  int heads;
};

void require(bool holds, const std::string& rule) {
  if (!holds) throw EngineError(ErrorCode::config, rule);
}

int64_t tokensOf(const AttendRows& task) { return task.segments.empty() ? 0 : task.segments.back(); }

void check(const AttendRows& task) {
  const int64_t tokens = tokensOf(task);
  constexpr int most = 1 << 16;
  for (const int size : {task.heads, task.keyDim, task.valueDim, task.kvHeads})
    require(size > 0 && size <= most, "heads, keyDim, valueDim, kvHeads: must be 1 to 65536");
  const auto has = [](const auto& values, int64_t count) {
    return static_cast<int64_t>(values.size()) == count;
  };
  require(has(task.q, static_cast<int64_t>(task.heads) * task.keyDim), "q: must be [heads * keyDim]");
  require(has(task.keys, tokens * task.kvHeads * task.keyDim), "keys: must be [tokens * kvHeads * keyDim]");
  if (task.values.empty() && tokens > 0)
    require(task.valueDim <= task.keyDim, "valueDim: must not be above keyDim without values");
  else
    require(has(task.values, tokens * task.kvHeads * task.valueDim),
            "values: must be [tokens * kvHeads * valueDim]");
  require(has(task.kvHeadOf, task.heads), "kvHeadOf: must be [heads]");
  for (const int32_t head : task.kvHeadOf)
    require(head >= 0 && head < task.kvHeads, "kvHeadOf: must be below kvHeads");
  int32_t before = 0;
  for (const int32_t end : task.segments) {
    require(end >= before, "segments: must not decrease");
    before = end;
  }
}

/** Heads by their key head. */
std::vector<int> ordered(const AttendRows& task) {
  std::vector<int> order(static_cast<size_t>(task.heads));
  for (int h = 0; h < task.heads; ++h) order[static_cast<size_t>(h)] = h;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return task.kvHeadOf[static_cast<size_t>(a)] < task.kvHeadOf[static_cast<size_t>(b)];
  });
  return order;
}

std::vector<Unit> unitsOf(const AttendRows& task, const std::vector<int>& order) {
  std::vector<Unit> units;
  int64_t from = 0;
  for (size_t s = 0; s < task.segments.size(); ++s) {
    const int64_t to = task.segments[s];
    for (int first = 0; first < task.heads;) {
      const int kvHead = task.kvHeadOf[static_cast<size_t>(order[static_cast<size_t>(first)])];
      int heads = 1;
      while (heads < kAttendHeads && first + heads < task.heads &&
             task.kvHeadOf[static_cast<size_t>(order[static_cast<size_t>(first + heads)])] == kvHead)
        ++heads;
      for (int64_t at = from; at < to; at += kUnitTokens)
        units.push_back({static_cast<int>(s), at, std::min(to, at + kUnitTokens), kvHead, first, heads});
      first += heads;
    }
    from = to;
  }
  return units;
}

void computeUnit(const AttendRows& task, const std::vector<int>& order, const Unit& unit, double* scratch,
                 AttendPartial& partial) {
  AttendTask one{};
  one.heads = unit.heads;
  for (int h = 0; h < unit.heads; ++h)
    one.q[h] = &task.q[static_cast<size_t>(order[static_cast<size_t>(unit.firstHead + h)]) *
                       static_cast<size_t>(task.keyDim)];
  one.keyDim = task.keyDim;
  one.valueDim = task.valueDim;
  one.keyStride = static_cast<int64_t>(task.kvHeads) * task.keyDim;
  one.keys = task.keys.data() + unit.begin * one.keyStride + static_cast<int64_t>(unit.kvHead) * task.keyDim;
  one.values = one.keys;
  one.valueStride = one.keyStride;
  if (!task.values.empty()) {
    one.valueStride = static_cast<int64_t>(task.kvHeads) * task.valueDim;
    one.values =
        task.values.data() + unit.begin * one.valueStride + static_cast<int64_t>(unit.kvHead) * task.valueDim;
  }
  one.tokens = unit.end - unit.begin;
  one.scale2 = task.scale * kLog2E;
  kernels().attend.attend(one, scratch, partial);
}

/** Running sums of one head of one segment, over its units. */
struct Sum {
  double top = -std::numeric_limits<double>::infinity();
  double total = 0;
};

void addUnit(const AttendRows& task, int head, int h, int segment, const AttendPartial& partial, Sum& sum,
             AttendedRows& result) {
  const double top = std::max(sum.top, partial.top[h]);
  if (top == -std::numeric_limits<double>::infinity()) return;
  const double before = sum.total == 0 ? 0 : std::exp2(sum.top - top);
  const double factor = std::exp2(partial.top[h] - top);
  double* to =
      &result
           .out[(static_cast<size_t>(segment) * static_cast<size_t>(task.heads) + static_cast<size_t>(head)) *
                static_cast<size_t>(task.valueDim)];
  const double* from = partial.acc + static_cast<int64_t>(h) * attendStride(task.valueDim);
  for (int v = 0; v < task.valueDim; ++v) to[v] = before * to[v] + factor * from[v];
  sum.total = before * sum.total + factor * partial.total[h];
  sum.top = top;
}

}  // namespace

AttendedRows attendRows(const AttendRows& task) {
  check(task);
  const std::vector<int> order = ordered(task);
  const std::vector<Unit> units = unitsOf(task, order);
  const size_t rows = task.segments.size() * static_cast<size_t>(task.heads);
  AttendedRows result;
  result.out.assign(rows * static_cast<size_t>(task.valueDim), 0.0);
  result.lse.assign(rows, -std::numeric_limits<double>::infinity());
  const int64_t accDoubles = static_cast<int64_t>(kAttendHeads) * attendStride(task.valueDim);
  Block<double> acc(static_cast<int64_t>(units.size()) * accDoubles);
  std::vector<AttendPartial> partials(units.size());
  const double work = static_cast<double>(tokensOf(task)) * task.heads * (task.keyDim + task.valueDim);
  const int threads = work < kWorthThreads ? 1 : std::min<int>(usableCores(), static_cast<int>(units.size()));
  Pool pool(std::max(threads, 1));
  std::vector<Block<double>> scratch;
  for (int i = 0; i < pool.threads(); ++i) scratch.emplace_back(attendScratch(task.keyDim, task.valueDim));
  pool.forEach(static_cast<int64_t>(units.size()), [&](int thread, int64_t i) {
    const auto at = static_cast<size_t>(i);
    partials[at].acc = acc.data() + i * accDoubles;
    computeUnit(task, order, units[at], scratch[static_cast<size_t>(thread)].data(), partials[at]);
  });
  std::vector<Sum> sums(rows);
  for (size_t i = 0; i < units.size(); ++i)
    for (int h = 0; h < units[i].heads; ++h) {
      const int head = order[static_cast<size_t>(units[i].firstHead + h)];
      const size_t row =
          static_cast<size_t>(units[i].segment) * static_cast<size_t>(task.heads) + static_cast<size_t>(head);
      addUnit(task, head, h, units[i].segment, partials[i], sums[row], result);
    }
  for (size_t row = 0; row < rows; ++row) {
    if (sums[row].total == 0) continue;
    double* to = &result.out[row * static_cast<size_t>(task.valueDim)];
    for (int v = 0; v < task.valueDim; ++v) to[v] /= sums[row].total;
    result.lse[row] = (sums[row].top + std::log2(sums[row].total)) * kLn2;
  }
  return result;
}

}  // namespace dcpscope
