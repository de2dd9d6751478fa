#pragma once
#include <cstdint>
#include <vector>

#include "core/block.h"
#include "core/group.h"
#include "core/reference.h"
#include "cpu/pool.h"

namespace dcpscope {

/** Relative error of one (row, head) above which a run is wrong; as in app/run/engine-config.ts. */
inline double tolerance(const Config& c) {
  // Half a unit in the last place of an lse of magnitude 16 to 32 is 2^-4: 6.4% of a weight.
  if (c.lseBf16) return 1e-1;
  return c.kvType == KvType::fp32 ? 1e-5 : 1e-2;
}

struct CheckResult {
  double maxAbs = 0;
  double maxRel = 0;
  int32_t checked = 0;
  /** Where maxRel was found. */
  int32_t layer = -1;
  int32_t token = -1;
  int32_t head = -1;
  /** Tokens that the draft proposed in the step, and those that count as accepted; -1 where none were judged.
   */
  int32_t proposed = -1;
  int32_t accepted = -1;
};

/**
 * Relative error of the draft's output within which a token that it proposes counts as accepted. A proxy: the
 * draft has no weights, so all that can go wrong with it is what its attention reads.
 */
constexpr double kAccepted = 1e-2;

/**
 * Compares merged output with the reference, between steps, on all threads. What is checked follows from the
 * configuration and the step's number. `auto` spends what a step's attention costs by counted work, saved
 * over steps until a unit (a layer, a query row, some of its heads) can be paid; the last step checks one
 * anyway. Every token of a draft is judged besides, by one of its heads, or by all where all rows are
 * checked.
 */
class Checker {
 public:
  Checker(const RunState& state, Pool& pool);

  CheckResult check(Group& group);

  /** Reference of a layer in the current step: out [T][H][V] and lse [T][H]. Returns the tokens computed. */
  int reference(int layer, Tensor& out, Tensor& lse);

  static int64_t bytes(const Shape& shape, int threads);

 private:
  struct Unit {
    int layer;
    int token;
    int group;
  };

  /** Global positions that a query token may attend to. */
  int64_t visible(int token) const;
  /** Those that it attends to: positions or entries of its list, and how many of these are keys. */
  int64_t entries(int token) const;
  int64_t keys(int token) const;
  double unitCost(int token) const;
  double largestUnitCost() const;
  double stepCost() const;
  double gpuStepCost(double keys, double multiplyAdds) const;
  Unit unitAt(int64_t index, bool wholeRows) const;
  int64_t unitsWanted();
  int64_t unitsAffordable(int64_t all);
  void computeWave(const Unit* units, int count);
  void computePart(int64_t item, const Unit* units, int thread);
  void combineUnit(int slot, const Unit& unit);
  /** Of one head of a unit: the largest absolute error, and the relative one. */
  struct Error {
    double worst;
    double relative;
  };
  Error errorOf(int slot, const Unit& unit, int h, Group& group) const;
  void judgeDraft(Group& group, CheckResult& result);
  void compare(int slot, const Unit& unit, Group& group, CheckResult& result) const;
  void storeReference(int slot, const Unit& unit, double* out, double* lse) const;
  int groupsOf(int heads) const;
  int headsIn(int group) const;
  double* acc(int slot, int part);

  const RunState& state_;
  Pool& pool_;
  /** Heads group, group + groups_, ... make a unit. */
  int groups_;
  double budget_ = 0;
  std::vector<Unit> wave_;
  std::vector<ReferencePartial> partials_;
  /** Tokens of the draft whose output is off. */
  Block<unsigned char> refused_;
  Block<double> acc_;
  std::vector<Block<double>> scratch_;
};

}  // namespace dcpscope
