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

/** Ranks as threads of this process that run at the same time, or the one rank that this process is. */
class CpuGroup final : public Group {
 public:
  CpuGroup(RunState& state, Pool& pool);
  ~CpuGroup() override;

  FillSizes fillSizes() const override;
  void fill(std::span<const FillPiece> pieces) override;
  StepTimes step() override;
  const unsigned char* merged(int layer, int rank, int token) override;
  MergedNan findNan() override;
  bool conclude(std::span<RankNotes> notes) override;
  std::vector<Place> places() const override;
  int port() const override { return port_; }
  RankMetadata metadata(int rank) override;
  RankMetadata draftMetadata(int rank) override;
  void copyPages(int rank, int layer, std::span<const int32_t> ids, unsigned char* to) override;
  GroupFacts facts() override;

 private:
  int locals() const { return static_cast<int>(shared_.ranks.size()); }
  /** By its number in the group; it is of this process. */
  Rank& rank(int id) { return *shared_.ranks[static_cast<size_t>(id - shared_.state.firstRank())]; }
  /** Of the branch that a layer takes. */
  RankMetadata metadataOf(int rank, int layer);
  int64_t nanIn(int layer, int rank, int token);

  /** Where ranks have processes of their own; the first is that of a rank without others. */
  Beacon own_;
  std::vector<const Beacon*> beacons_;
  int port_ = 0;
  Shared shared_;
  Pool& pool_;
  std::vector<std::unique_ptr<ThreadScratch>> scratch_;
  Block<int64_t> nanCounts_;
};

}  // namespace dcpscope
