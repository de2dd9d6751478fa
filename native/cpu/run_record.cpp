#include <algorithm>
#include <limits>

#include "core/layout.h"
#include "cpu/run.h"

namespace dcpscope {

void Run::recordPages() {
  const Config& c = shared_.config;
  const int P = c.pageSize;
  for (int r = 0; r < shared_.shape.requests; ++r) {
    const int64_t after = shared_.frame.after[r];
    const bool first = recorded_[r] < 0;
    const int64_t begin = first ? 0 : layout::column(recorded_[r], c.ranks, P);
    const int64_t known = first ? 0 : layout::columns(recorded_[r], c.ranks, P);
    for (int rank = 0; rank < c.ranks; ++rank) {
      const int64_t before = first ? 0 : layout::localLength(recorded_[r], rank, c.ranks, c.interleave);
      const int64_t length = layout::localLength(after, rank, c.ranks, c.interleave);
      for (int64_t column = begin; column < layout::columns(after, c.ranks, P); ++column) {
        const int64_t valid = std::clamp<int64_t>(length - column * P, 0, P);
        if (column < known && valid == std::clamp<int64_t>(before - column * P, 0, P)) continue;
        shared_.ranks[static_cast<size_t>(rank)]->pages.push(
            PageRow{shared_.frame.step, r, static_cast<int32_t>(column), shared_.pages.row(r)[column],
                    static_cast<int32_t>(valid)});
      }
    }
    recorded_[r] = after;
  }
}

void Run::recordSightings(int64_t now) {
  const auto summed = [&](EventKind kind, Sighting Rank::* which) {
    EventRow row{shared_.frame.step, -1, -1, -1, now, kind, -1, 0, 0};
    for (size_t r = 0; r < shared_.ranks.size(); ++r) {
      const Sighting& seen = (*shared_.ranks[r]).*which;
      if (seen.count > 0 && row.value == 0) {
        row.layer = seen.layer;
        row.rank = static_cast<int32_t>(r);
        row.request = seen.request;
        row.row = seen.row;
      }
      row.value += static_cast<double>(seen.count);
    }
    if (row.value > 0) event(row);
  };
  summed(EventKind::nanInPartial, &Rank::nan);
  summed(EventKind::infInPartial, &Rank::inf);
  summed(EventKind::nanInLse, &Rank::lseNan);
  for (size_t r = 0; r < shared_.ranks.size(); ++r) {
    const Sighting& empty = shared_.ranks[r]->empty;
    int64_t& seen = emptySeen_[static_cast<int64_t>(r)];
    if (empty.count > 0 && empty.count != seen)
      event({shared_.frame.step, -1, static_cast<int32_t>(r), empty.request, now, EventKind::emptyRank, -1,
             static_cast<double>(empty.count), static_cast<double>(shared_.shape.requests)});
    seen = empty.count;
  }
}

void Run::recordCheck(const CheckResult& check, const MergedNan& nan, int64_t now) {
  const int qLen = shared_.config.qLen;
  if (nan.count > 0)
    event({shared_.frame.step, nan.layer, nan.rank, nan.token / qLen, now, EventKind::nanInMerged, nan.token,
           static_cast<double>(nan.count), 0});
  if (check.checked == 0 || check.maxRel <= tolerance(shared_.config)) return;
  event({shared_.frame.step, check.layer, check.head / shared_.shape.headsPerRank, check.token / qLen, now,
         EventKind::checkFailed, check.token, check.maxRel, tolerance(shared_.config)});
}

void Run::recordStep(const CheckResult& check) {
  int64_t begin = std::numeric_limits<int64_t>::max();
  int64_t end = 0;
  for (const auto& rank : shared_.ranks) {
    begin = std::min(begin, rank->began);
    end = std::max(end, rank->ended);
  }
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  steps_.push(StepRow{
      shared_.frame.step, begin, end - begin, shared_.shape.requests * shared_.config.acceptedPerStep,
      check.checked > 0 ? check.maxAbs : none, check.checked > 0 ? check.maxRel : none, check.checked});
}

void Run::stall(int64_t waitedNs) {
  const int64_t now = shared_.clock.now();
  for (auto& rank : shared_.ranks)
    rank->spans.push(
        SpanRow{stepsDone_, -1, Stage::stall, std::max<int64_t>(now - waitedNs, 0), waitedNs, 0, 0});
}

}  // namespace dcpscope
