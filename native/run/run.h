#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/group.h"
#include "cpu/check.h"
#include "cpu/pool.h"

namespace dcpscope {

struct AdvanceResult {
  int stepsDone;
  bool finished;
  bool ringsFull;
};

/** A ring of one table and the rank it belongs to, -1 for tables of the whole run. */
struct NamedRing {
  const char* table;
  int rank;
  Ring* ring;
  /** What the column `name` of the kernels counts through, else null. */
  const std::vector<std::string>* names = nullptr;
};

/** A decode run of one DCP group on a device. Not safe for concurrent calls except `cancel`. */
class Run {
 public:
  /**
   * Throws ERR_CONFIG, or ERR_MEMORY before anything is allocated. With `member` it is the part of one rank;
   * the rank that makes the shared memory answers for the host's memory of all, and each for that of its GPU.
   */
  Run(const Config& config, const Device& device, std::optional<Member> member = std::nullopt);
  ~Run();

  /** Not while a call works. */
  GroupFacts facts() { return group_->facts(); }

  /** Fills context for about `maxMs`; returns the share that is done, 0 to 1. */
  double fill(double maxMs);
  /** See NativeRun.advance in main/engine/addon.ts. */
  AdvanceResult advance(int maxSteps, double maxMs, int64_t waitedNs);

  /** Where each rank is, from any thread; none where ranks have no processes of their own. */
  std::vector<Place> places() const { return group_->places(); }
  /** See Group::port. */
  int port() const { return group_->port(); }
  /** Shows others that this rank goes on although it does not work. Not while a call works. */
  void rest() { state_.at({Activity::resting}); }

  std::vector<NamedRing> rings();
  std::vector<Capture> takeCaptures();
  int64_t dropped();

  /** Forgets an earlier `cancel`. Comes before a call that works, on the thread that may cancel it. */
  void arm();
  /** From any thread: work stops soon and the call that does it throws ERR_CANCELLED. The step in progress
   * is forgotten, or what its finished stages recorded is kept. */
  void cancel(bool keepStep = false);

 private:
  /** A piece of filling without its layer. */
  struct FillBlock {
    int request;
    int64_t first;
    int64_t last;
  };

  void prepareFill();
  bool roomForStep(int step);
  int64_t changedPages(int step) const;
  void beginFrame(int step, bool traced);
  void takePages();
  void finishStep(const StepTimes& times);
  void recordPages();
  void noteStep();
  void recordSightings(int64_t now);
  void recordCheck(const CheckResult& check, int64_t now);
  void recordEmptyRanks(int64_t now);
  void recordKernels(const KernelTrace& kernels, int64_t now);
  void recordStep(const CheckResult& check, const StepTimes& times);
  void prepareCaptures();
  std::vector<Capture> captureStep();
  std::vector<Capture> finishCaptures();
  void captureFailed();
  void captureIncomplete(int layer, int rank, double wanted, double limit);
  void captureCache(Capture& capture, std::span<const int32_t> ids);
  void capturePages(Capture& capture);
  Capture captureReference(int layer);
  void stall(int64_t waitedNs);
  void throwIfCancelled();
  void event(EventRow row);

  RunState state_;
  Pool pool_;
  Ring steps_;
  Ring events_;
  std::unique_ptr<Group> group_;
  /** Of the process that leads. */
  std::unique_ptr<Checker> checker_;
  std::vector<RankNotes> notes_;
  std::vector<FillBlock> blocks_;
  std::vector<FillPiece> pieces_;
  int64_t filled_ = 0;
  int64_t fillItems_ = -1;
  int warmupDone_ = 0;
  int stepsDone_ = 0;
  /** Length of each request in the last recorded step, -1 before the first. */
  Block<int64_t> recorded_;
  /** Requests without keys per rank when that was last an event. */
  Block<int64_t> emptySeen_;
  const int64_t eventsPerStep_;
  std::vector<Capture> captures_;
  /** That kernels cannot be recorded was an event. */
  bool kernelsMissed_ = false;
};

}  // namespace dcpscope
