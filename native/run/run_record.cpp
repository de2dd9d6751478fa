#include <algorithm>
#include <limits>

#include "core/deal.h"
#include "run/run.h"

namespace dcpscope {

void Run::recordPages() {
  const Config& c = state_.config;
  const int P = c.pageSize;
  for (int r = 0; r < state_.shape.requests; ++r) {
    const int64_t after = state_.frame.after[r];
    const Deal deal = dealOf(c, r);
    const bool first = recorded_[r] < 0;
    const int64_t begin = first ? 0 : deal.openColumn(recorded_[r], P);
    const int64_t known = first ? 0 : deal.columns(recorded_[r], P);
    for (int rank = state_.firstRank(); rank < state_.endRank(); ++rank) {
      const int64_t before = first ? 0 : deal.localLength(recorded_[r], rank);
      const int64_t length = deal.localLength(after, rank);
      for (int64_t column = begin; column < deal.columns(after, P); ++column) {
        const int64_t valid = std::clamp<int64_t>(length - column * P, 0, P);
        if (column < known && valid == std::clamp<int64_t>(before - column * P, 0, P)) continue;
        state_.trace(rank).pages.push(PageRow{state_.frame.step, r, static_cast<int32_t>(column),
                                              state_.pages.row(r)[column], static_cast<int32_t>(valid)});
      }
    }
    recorded_[r] = after;
  }
}

/** Keeps what the ranks of this process noticed. */
void Run::noteStep() {
  for (int r = state_.firstRank(); r < state_.endRank(); ++r) {
    const RankTrace& trace = state_.trace(r);
    notes_[static_cast<size_t>(r)] = {trace.nan, trace.inf, trace.lseNan, {}};
  }
  notes_[static_cast<size_t>(state_.firstRank())].merged = group_->findNan();
}

void Run::recordSightings(int64_t now) {
  const auto summed = [&](EventKind kind, Sighting RankNotes::* which) {
    EventRow row{state_.frame.step, -1, -1, -1, now, kind, -1, 0, 0};
    for (int r = 0; r < state_.config.ranks; ++r) {
      const Sighting& seen = notes_[static_cast<size_t>(r)].*which;
      if (seen.count > 0 && row.value == 0) {
        row.layer = seen.layer;
        row.rank = r;
        row.request = seen.request;
        row.row = seen.row;
      }
      row.value += static_cast<double>(seen.count);
    }
    if (row.value > 0) event(row);
  };
  summed(EventKind::nanInPartial, &RankNotes::nan);
  summed(EventKind::infInPartial, &RankNotes::inf);
  summed(EventKind::nanInLse, &RankNotes::lseNan);
}

/** A rank that holds no key of some requests, when their number changes. */
void Run::recordEmptyRanks(int64_t now) {
  const Config& c = state_.config;
  for (int r = 0; r < c.ranks; ++r) {
    Sighting empty;
    for (int i = 0; i < batchRequests(c); ++i)
      empty.note(dealOf(c, i).localLength(state_.frame.after[i], r) == 0 ? 1 : 0, -1, i, -1);
    if (empty.count > 0 && empty.count != emptySeen_[r])
      event({state_.frame.step, -1, r, empty.request, now, EventKind::emptyRank, -1,
             static_cast<double>(empty.count), static_cast<double>(batchRequests(c))});
    emptySeen_[r] = empty.count;
  }
}

void Run::recordCheck(const CheckResult& check, int64_t now) {
  const int qLen = state_.config.qLen;
  MergedNan nan;
  for (const RankNotes& note : notes_) {
    const MergedNan& found = note.merged;
    if (found.count > 0 && (nan.count == 0 || found.layer < nan.layer)) {
      nan.layer = found.layer;
      nan.rank = found.rank;
      nan.token = found.token;
    }
    nan.count += found.count;
  }
  if (nan.count > 0)
    event({state_.frame.step, nan.layer, nan.rank, nan.token / qLen, now, EventKind::nanInMerged, nan.token,
           static_cast<double>(nan.count), 0});
  if (check.checked == 0 || check.maxRel <= tolerance(state_.config)) return;
  event({state_.frame.step, check.layer, check.head / state_.shape.headsPerRank, check.token / qLen, now,
         EventKind::checkFailed, check.token, check.maxRel, tolerance(state_.config)});
}

void Run::recordKernels(const KernelTrace& kernels, int64_t now) {
  if (!state_.frame.kernels) return;
  // That there is no recorder is said once, not for every step.
  if (!kernels.on && kernelsMissed_) return;
  kernelsMissed_ = kernelsMissed_ || !kernels.on;
  EventRow row{state_.frame.step, -1, -1, -1, now, EventKind::kernelsRecorded, -1, 0, 0};
  row.kind = kernels.whole ? EventKind::kernelsRecorded : EventKind::kernelsNotRecorded;
  row.value = static_cast<double>(kernels.records);
  row.limit = static_cast<double>(kernels.whole ? kernels.uncertaintyNs : kernels.expected);
  event(row);
}

void Run::recordStep(const CheckResult& check, const StepTimes& times) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const bool checked = check.checked > 0;
  steps_.push(StepRow{state_.frame.step, times.start, times.wall, times.once, times.device, times.untraced,
                      batchRequests(state_.config) * state_.config.acceptedPerStep,
                      checked ? check.maxAbs : none, checked ? check.maxRel : none, check.checked,
                      times.replayed, times.kernels.on, check.proposed, check.accepted});
}

void Run::stall(int64_t waitedNs) {
  const int64_t now = state_.clock.now();
  for (auto& trace : state_.traces)
    trace->spans.push(
        SpanRow{stepsDone_, -1, Stage::stall, std::max<int64_t>(now - waitedNs, 0), waitedNs, 0, 0});
}

}  // namespace dcpscope
