#include "cuda/tests/attention_check.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "cuda/ops/neutralize.h"
#include "cuda/tests/reference.h"
#include "cuda/tests/row_check.h"

namespace dcpscope::cuda::tests {
namespace {

constexpr double kLseLimit = 1e-4;

/** Relative error of a row of `columns` values. One of few values may come out much shorter than others, with
 * the same error of its weights. */
double outLimit(int columns) { return columns < 64 ? 8e-3 : 5e-3; }

bool emptyRowHolds(const RowCheck& row, EmptyRow kind) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (kind) {
    case EmptyRow::neutral:
      return row.allZero && row.lse == -kInfinity;
    case EmptyRow::unwritten:
      return row.untouched;
    case EmptyRow::plusInf:
      return row.allZero && row.lse == kInfinity;
    case EmptyRow::nan:
      return row.allNan && row.lse == -kInfinity;
  }
  return false;
}

const char* nameOf(EmptyRow kind) {
  switch (kind) {
    case EmptyRow::neutral:
      return "(0, -inf)";
    case EmptyRow::unwritten:
      return "as it was";
    case EmptyRow::plusInf:
      return "(0, +inf)";
    case EmptyRow::nan:
      return "(NaN, -inf)";
  }
  return "";
}

void expectEmpty(const RowCheck& row, const char* where, EmptyRow kind) {
  expect(emptyRowHolds(row, kind),
         format("%s: a row without keys is not %s, its lse is %g", where, nameOf(kind), double(row.lse)));
}

void expectNan(const RowCheck& row, const char* where) {
  expect(row.allNan, format("%s: a row that sees a NaN is not NaN", where));
  expect(std::isnan(row.lse), format("%s: lse of a row that sees a NaN is %g", where, double(row.lse)));
}

/** An error that is NaN, as one side alone would make it, is within no limit. */
void expectClose(const RowCheck& row, const char* where, double limit) {
  expect(row.error <= limit, format("%s: out is %.3g off, at most %g", where, double(row.error), limit));
  expect(row.lseError <= kLseLimit, format("%s: lse %g is %.3g off, at most %g", where, double(row.lse),
                                           double(row.lseError), kLseLimit));
}

}  // namespace

AttentionBench::AttentionBench(const AttentionProblem& problem, CreateAttention create)
    : problem_(problem),
      shape_(problem.shape()),
      attention_(create(shape_)),
      workspace_(attention_->workspaceBytes()),
      out_(problem.rows() * shape_.valueDim * (shape_.outFp32 ? 4 : 2)),
      lse_(problem.rows()),
      stats_(problem.rows() / shape_.heads),
      attendStamps_(kStamps),
      combineStamps_(kStamps) {
  workspace_.fill(0);
  poison(0xff);
}

void AttentionBench::poison(uint8_t poison) {
  poison_ = poison;
  out_.fill(poison);
  lse_.fill(poison);
  stats_.fill(0);
  attendStamps_.fill(0);
  combineStamps_.fill(0);
}

void AttentionBench::enqueue(cudaStream_t stream, bool stats) {
  AttentionInputs inputs = problem_.inputs();
  inputs.out = out_.data();
  inputs.lse = lse_.get();
  inputs.stats = stats ? stats_.get() : nullptr;
  inputs.attendStamps = attendStamps_.get();
  inputs.combineStamps = combineStamps_.get();
  attention_->plan(workspace_.data(), inputs.lengths, stream);
  attention_->run(workspace_.data(), inputs, stream);
}

std::string AttentionBench::check() const {
  cudaCheck(cudaDeviceSynchronize(), "attention");
  checkGuards();
  DeviceArray<double> out(problem_.rows() * shape_.valueDim);
  DeviceArray<double> lse(problem_.rows());
  referenceAttention(shape_, problem_.inputs(), out.get(), lse.get(), nullptr);
  const std::vector<RowCheck> rows = checkRows(out_.data(), shape_.outFp32, lse_.get(), out.get(), lse.get(),
                                               problem_.rows(), shape_.valueDim, poison_);
  double worst = 0;
  double worstLse = 0;
  int nanRows = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowCheck& row = rows[i];
    const int t = int(i) / shape_.heads;
    const int keys = problem_.keysOf(t);
    const std::string where =
        format("token %d (request %d of %d keys, sees %d), head %d", t, t / shape_.qLen,
               problem_.lengths()[size_t(t / shape_.qLen)], keys, int(i) % shape_.heads);
    if (keys == 0) {
      expectEmpty(row, where.c_str(), problem_.made().emptyRow);
    } else if (row.nanExpected) {
      expectNan(row, where.c_str());
      ++nanRows;
    } else {
      expectClose(row, where.c_str(), outLimit(shape_.valueDim));
      worst = std::fmax(worst, double(row.error));
      worstLse = std::fmax(worstLse, double(row.lseError));
    }
  }
  expect((nanRows > 0) == problem_.made().hasNan(), format("the reference has %d rows of NaN", nanRows));
  checkStats();
  return format("%s, out %.2e, lse %.2e", name(), worst, worstLse) +
         (nanRows > 0 ? format(", %d rows NaN", nanRows) : "");
}

void AttentionBench::checkStats() const {
  const auto tokens = int(problem_.rows() / shape_.heads);
  // Rows without keys are none of attention's statistics; here none is cleared.
  const DeviceArray<int32_t> bounds(std::vector<int32_t>(size_t(tokens), 1));
  DeviceArray<StatsRecord> all(tokens);
  all.fill(0);
  neutralize({tokens, shape_.heads, shape_.valueDim, shape_.outFp32, out_.data(), lse_.get(), bounds.get(),
              StatsOf::allTokens, all.get()},
             nullptr, nullptr);
  const std::vector<StatsRecord> want = all.download();
  const std::vector<StatsRecord> got = stats_.download();
  for (int t = 0; t < tokens; ++t) {
    const bool taken = attention_->takesStats() && problem_.keysOf(t) > 0;
    const StatsRecord& w = taken ? want[size_t(t)] : StatsRecord{};
    const StatsRecord& g = got[size_t(t)];
    expect(std::memcmp(&w, &g, sizeof(StatsRecord)) == 0,
           format("token %d: %u NaN, %u infinities, largest %x, lse %u NaN, %x to %x instead of "
                  "%u, %u, %x, %u, %x to %x",
                  t, g.outNan, g.outInf, g.outMost, g.lseNan, ~g.lseLow, g.lseHigh, w.outNan, w.outInf,
                  w.outMost, w.lseNan, ~w.lseLow, w.lseHigh));
  }
}

void AttentionBench::checkGuards() const {
  problem_.checkGuards();
  workspace_.checkGuards("workspace");
  out_.checkGuards("out");
  lse_.checkGuards("lse");
  stats_.checkGuards("statistics");
  attendStamps_.checkGuards("stamps of attend");
  combineStamps_.checkGuards("stamps of combine");
}

void AttentionBench::checkStamps() const {
  const std::vector<Stamp> attend = attendStamps_.download();
  expect(attend[0].begin > 0, "the first block of the kernel left no stamp");
  for (const auto& stamps : {attend, combineStamps_.download()}) {
    for (const Stamp& stamp : stamps) {
      expect(stamp.end >= stamp.begin, format("a stamp ends at %llu before it begins at %llu",
                                              static_cast<unsigned long long>(stamp.end),
                                              static_cast<unsigned long long>(stamp.begin)));
      expect((stamp.end == 0) == (stamp.begin == 0), "half of a stamp is missing");
    }
  }
}

void AttentionBench::checkRepeats() {
  const bool unwritten = problem_.made().emptyRow == EmptyRow::unwritten;
  GuardedBytes firstOut(out_.bytes());
  GuardedBytes firstLse(lse_.bytes());
  const uint8_t other = unwritten ? poison_ : uint8_t(poison_ ^ 0x80);
  cudaCheck(cudaMemcpy(firstOut.data(), out_.data(), size_t(out_.bytes()), cudaMemcpyDeviceToDevice), "copy");
  cudaCheck(cudaMemcpy(firstLse.data(), lse_.data(), size_t(lse_.bytes()), cudaMemcpyDeviceToDevice), "copy");
  poison(other);
  enqueue(nullptr, false);
  cudaCheck(cudaDeviceSynchronize(), "attention, a second time");
  checkGuards();
  const int64_t different = differingBytes(firstOut.data(), out_.data(), out_.bytes()) +
                            differingBytes(firstLse.data(), lse_.data(), lse_.bytes());
  expect(different == 0, format("a second run differs in %lld bytes", static_cast<long long>(different)));
}

}  // namespace dcpscope::cuda::tests
