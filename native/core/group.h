#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/memory.h"
#include "core/run_state.h"

namespace dcpscope {

class Pool;

/** Context tokens first .. last - 1 of one request in one layer. */
struct FillPiece {
  int layer;
  int request;
  int64_t first;
  int64_t last;
};

/** How a group likes to be filled: tokens of a piece, and pieces of one call. */
struct FillSizes {
  int64_t tokens;
  int64_t pieces;
};

/** What became of the kernels of a step that were to be recorded. */
struct KernelTrace {
  /** The recorder was on, which makes a step slower. */
  bool on = false;
  /** Whether all were recorded. */
  bool whole = false;
  /** What ran on the device by its records, and by the list of work. */
  int64_t records = 0;
  int64_t expected = 0;
  /** Within how much the records' clock stands to that of the stages. */
  int64_t uncertaintyNs = 0;
};

/** Times of one step in nanoseconds on the clock of the run. */
struct StepTimes {
  int64_t start;
  /** Until the last rank has ended. */
  int64_t wall;
  /** What the device took for all ranks. */
  int64_t device;
  /** Of `wall`: until all ranks have begun their first layer, for what a step does once. */
  int64_t once = 0;
  /** The same step on the device with tracing off; -1: not run. */
  int64_t untraced = -1;
  bool replayed = false;
  KernelTrace kernels = {};
};

/** Values of merged outputs that are NaN, and the first of them. */
struct MergedNan {
  int64_t count = 0;
  int32_t layer = -1;
  int32_t token = -1;
  int32_t rank = -1;
};

/** What a rank noticed in a step, beside its trace. */
struct RankNotes {
  Sighting nan;
  Sighting inf;
  Sighting lseNan;
  MergedNan merged;
};

/** Metadata of one rank as its kernels read it. */
struct RankMetadata {
  /** Of each request: its length and that of the rank's part, where its pages begin in `pageIds`, and how
   * many columns. */
  std::vector<int32_t> globals;
  std::vector<int32_t> lengths;
  std::vector<int64_t> pageBegin;
  std::vector<int64_t> columns;
  std::vector<int32_t> pageIds;
  /** Slot of each new token [T], -1 where another rank stores it. */
  std::vector<int64_t> slots;
};

/** How times of a group stand to the clock of the run, what computes attention, and why kernels that were
 * asked for are not recorded (empty where they are, or none were). */
struct GroupFacts {
  std::string alignment;
  int64_t uncertaintyNs;
  std::string attention;
  std::string kernelProblem = {};
};

/**
 * The ranks of a DCP group on some device: pools, buffers and the stages of a step. Calls come one at a time;
 * a step of `state.frame` is over when `step` returns. Every call may throw EngineError; after ERR_ENGINE and
 * ERR_DEVICE the group is only destroyed.
 */
class Group {
 public:
  virtual ~Group() = default;

  virtual FillSizes fillSizes() const = 0;
  /** Every rank writes the keys that it owns. */
  virtual void fill(std::span<const FillPiece> pieces) = 0;

  /** Makes the inputs, runs the stages on every rank, records spans, rows and captures in `state.traces`. */
  virtual StepTimes step() = 0;

  /** Merged rows of a token in the last step, as the rank keeps them: [H / ranks][V]. Valid until the next
   * call. */
  virtual const unsigned char* merged(int layer, int rank, int token) = 0;
  /** In the layers of the model. */
  virtual MergedNan findNan() = 0;

  /**
   * The ranks of this process are through with a step, also with what is noted and checked of it. Ranks with
   * processes of their own tell each other their notes, one entry a rank. False when the step does not count,
   * since another process was cancelled.
   */
  virtual bool conclude(std::span<RankNotes>) { return true; }

  /** Where each rank is, from any thread; none where ranks have no processes of their own. */
  virtual std::vector<Place> places() const { return {}; }

  /** Where the first rank of several machines listens for the others (Member::network); else 0. */
  virtual int port() const { return 0; }

  /** For captures: what the last step worked on, and pages of a layer's pool in the order of `ids`. */
  virtual RankMetadata metadata(int rank) = 0;
  /** The same of the draft, where there is one. */
  virtual RankMetadata draftMetadata(int rank) = 0;
  virtual void copyPages(int rank, int layer, std::span<const int32_t> ids, unsigned char* to) = 0;

  /** Aligns the clocks once more, where there are several. */
  virtual GroupFacts facts() = 0;
};

/** Something that can compute a run. */
class Device {
 public:
  virtual ~Device() = default;

  /** Threads that the run should have for its own work and the group's. */
  virtual int threads(const Config& config) const = 0;
  /** What `createGroup` would allocate for a valid configuration: of the host in all processes, of the device
   * in one. */
  virtual std::vector<MemoryComponent> memory(const Config& config) const = 0;
  /** Throws ERR_MEMORY when what `components` need of the device's own memory is not free. */
  virtual void requireRoom(const std::vector<MemoryComponent>& components) const = 0;
  /** `state` and `pool` outlive the group. */
  virtual std::unique_ptr<Group> createGroup(RunState& state, Pool& pool) const = 0;
};

}  // namespace dcpscope
