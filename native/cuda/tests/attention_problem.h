#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda/attention.h"
#include "cuda/tests/device_buffer.h"

namespace dcpscope::cuda::tests {

/** A NaN in one column of a query row, numbered over all tokens and their heads. */
struct NanQuery {
  int64_t row;
  int column;
};

/** A NaN in one column of a local key of a request; with KV heads columns go on from head to head. */
struct NanKey {
  int request;
  int64_t key;
  int column;
};

/** One call of decode attention on random data, as a rank of a DCP group would make it. */
struct AttentionCase {
  KvType kv = KvType::bf16;
  int heads = 16;
  int qLen = 1;
  int pageSize = 64;
  /** Global length of each request, its qLen new tokens included. */
  std::vector<int64_t> lengths;
  int interleave = 1;
  int ranks = 1;
  int rank = 0;
  int topk = 0;
  /** Share of the sparse ids that are -1 though keys are left. */
  double missing = 0;
  bool outFp32 = false;
  bool base2 = false;
  EmptyRow emptyRow = EmptyRow::neutral;
  /** A few keys with a large score. */
  bool needles = false;
  /** Page ids that mean nothing lie outside the pool, not on pages of NaN. */
  bool wildIds = false;
  std::vector<NanQuery> nanQueries;
  /** Of a quantised cache the portable kernel alone keeps them. */
  std::vector<NanKey> nanKeys;
  int latent = 512;
  int rope = 64;
  /** KV heads, of the width `latent` without rope; 0: MLA. */
  int kvHeads = 0;
  uint32_t seed = 1;

  bool hasNan() const { return !nanQueries.empty() || !nanKeys.empty(); }
};

/**
 * Inputs of a case on the device. Pages are dealt out in random order; page ids behind a request's last page
 * are garbage; every slot that holds no token is all ones, which is NaN in every format.
 */
class AttentionProblem {
 public:
  explicit AttentionProblem(const AttentionCase& made);

  const AttentionCase& made() const { return case_; }
  AttentionShape shape() const;
  /** Everything but `out`, `lse` and the stamps. */
  AttentionInputs inputs() const;
  int tokens() const { return int(case_.lengths.size()) * case_.qLen; }
  int64_t rows() const { return int64_t(tokens()) * case_.heads; }
  /** Local keys of each request. */
  const std::vector<int32_t>& lengths() const { return lengths_; }
  /** Keys that query token t sees: its bound, or its valid slots. */
  int32_t keysOf(int t) const { return keys_[size_t(t)]; }
  /** Where host copies are needed: page of local token `l` of request `r` times the page size plus the
   * offset. */
  int64_t slotOf(int r, int64_t l) const;
  const std::vector<int32_t>& slots() const { return slots_; }
  /** Bytes of a token in the pool, and of one of its rows. */
  int64_t rowBytes() const;
  int64_t partBytes() const;

  /** Sets other global lengths, none longer than those of the case. The pool stays as it is. Dense only. */
  void setLengths(const std::vector<int64_t>& lengths);
  /** Throws a Failure when an input was written around. */
  void checkGuards() const;

 private:
  void dealPages();
  void dealSlots();
  void fillPool();
  void placeNan();

  AttentionCase case_;
  std::vector<int32_t> lengths_;
  std::vector<int32_t> bounds_;
  std::vector<int32_t> keys_;
  std::vector<int32_t> slots_;
  std::vector<int32_t> table_;
  std::vector<int64_t> tableBegin_;
  int64_t poolPages_ = 0;
  float kvScale_ = 1;
  std::unique_ptr<DeviceArray<uint16_t>> q_;
  std::unique_ptr<GuardedBytes> pool_;
  std::unique_ptr<DeviceArray<int32_t>> deviceTable_;
  std::unique_ptr<DeviceArray<int64_t>> deviceTableBegin_;
  std::unique_ptr<DeviceArray<int32_t>> deviceLengths_;
  std::unique_ptr<DeviceArray<int32_t>> deviceBounds_;
  std::unique_ptr<DeviceArray<int32_t>> deviceSlots_;
};

}  // namespace dcpscope::cuda::tests
