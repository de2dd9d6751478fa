#pragma once
#include <memory>
#include <vector>

#include "core/group.h"
#include "cpu/pool.h"
#include "cpu/rank.h"
#include "cpu/state.h"

namespace dcpscope {

/** The CPU with all its cores: a thread a rank at least. */
const Device& cpuDevice();

/** Ranks as threads that run at the same time. */
class CpuGroup final : public Group {
 public:
  CpuGroup(RunState& state, Pool& pool);

  FillSizes fillSizes() const override;
  void fill(std::span<const FillPiece> pieces) override;
  StepTimes step() override;
  const unsigned char* merged(int layer, int rank, int token) override;
  MergedNan findNan() override;
  RankMetadata metadata(int rank) override;
  void copyPages(int rank, int layer, std::span<const int32_t> ids, unsigned char* to) override;
  GroupFacts facts() override;

 private:
  Rank& rank(int id) { return *shared_.ranks[static_cast<size_t>(id)]; }
  int64_t nanIn(int layer, int rank, int token);

  Shared shared_;
  Pool& pool_;
  std::vector<std::unique_ptr<ThreadScratch>> scratch_;
  Block<int64_t> nanCounts_;
};

}  // namespace dcpscope
