#pragma once
#include <cstdint>

#include "core/block.h"
#include "core/branch.h"
#include "core/run_state.h"

namespace dcpscope {

/** What a step refreshed of it, and the bytes of block table that it wrote. */
struct Refreshed {
  bool lengths;
  bool pages;
  int64_t bytes;
};

/**
 * What one branch hands the kernels of a rank: lengths, block table, slots of new tokens, bounds of query
 * tokens. The buffers are the branch's own and stay over steps, as those of a captured graph do; each step
 * refreshes them. Faults of metadata act here, those of a run on a GPU as well.
 */
class Metadata {
 public:
  Metadata(const RunState& state, int rank, Branch branch);
  /** Of the branch that the layers of the model take. */
  Metadata(const RunState& state, int rank) : Metadata(state, rank, modelBranch(state.config)) {}
  static int64_t bytes(const Config& config, const Shape& shape);

  /** Writes what the current step needs. */
  Refreshed refresh();

  /** Lengths of a request as they are handed over: of the whole of it, and of the rank's part. */
  int64_t globalLength(int request) const { return globals_[request]; }
  int64_t localLength(int request) const { return lengths_[request]; }
  /** Keys that the kernel walks over for a request: those that its last query row sees. */
  int64_t keys(int request) const { return bounded_[(request + 1) * config_.qLen - 1]; }

  /** Page ids of a request by column, and how many the table is said to have. */
  const int32_t* pages(int request) const { return &table_[begin(request)]; }
  int64_t columns(int request) const { return columns_[request]; }
  /** The cells of all requests, and where those of a request begin. */
  const Block<int32_t>& table() const { return table_; }
  int64_t begin(int request) const {
    return roomy_ > 0 ? request * roomy_ : shape_.cellBegin[static_cast<size_t>(request)];
  }
  static int64_t cells(const Config& config, const Shape& shape);

  /** Where each new token is written [T], -1 where another rank stores it. */
  const Block<int64_t>& slots() const { return slots_; }
  /** Local keys that each query token sees without a choice of keys [T]. */
  const Block<int32_t>& bounded() const { return bounded_; }

  /** Pages of a request as its writer finds them. */
  const PageTable& pageTable() const { return pageTable_; }
  /** Interleave by which keys are written. */
  int64_t writtenInterleave() const;

 private:
  const Fault* fault(FaultKind kind) const;
  void writeTable(int request);
  void misreadTable(bool narrow);
  void writeSlots(int request);
  void writeBounds(int request, int64_t length);
  int64_t slotOf(int request, int64_t token) const;
  int64_t slotAt(int request, int64_t local) const;
  int64_t handedLength(int request) const;
  int64_t globalOf(int request) const;
  int64_t lengthOf(int request) const;
  int64_t boundOf(int request, int64_t length, int q) const;
  int64_t localised(int request, int64_t global) const;
  bool doubles(int request) const;

  const RunState& state_;
  const Config& config_;
  const Shape& shape_;
  const int rank_;
  const Branch branch_;
  /** Of the model, or of the draft. */
  const PageTable& pageTable_;
  /** Cells of a row where faults read beyond those of its request; 0: rows of their own lengths, without
   * gaps. */
  const int64_t roomy_;
  Block<int64_t> globals_;
  Block<int64_t> lengths_;
  Block<int64_t> columns_;
  Block<int32_t> table_;
  /** The table as it was written, where it is read as one of another width. */
  Block<int32_t> written_;
  Block<int64_t> slots_;
  Block<int32_t> bounded_;
};

}  // namespace dcpscope
