#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "comm/control.h"
#include "core/run_state.h"

namespace dcpscope::cuda {

/** How long a rank may stand still, and how long a device: longer than the host, which can say where the
 * other rank is. */
constexpr int64_t kPeerPatienceNs = 5'000'000'000;
constexpr int64_t kDevicePatienceNs = kPeerPatienceNs + 2'000'000'000;

/**
 * What ranks with processes of their own tell each other between the steps of a GPU: records at the
 * beginning, when each of them entered the collectives of a step, and the merged rows that the first rank
 * checks. No CUDA.
 *
 * All ranks call the same in the same order. What gives nothing, or false, has not taken place on any rank:
 * the run is given up, and `control().throwIfLost()` says why where it was not cancelled.
 */
class Meeting {
 public:
  /** `collectives` of a step; `rowBytes`: merged rows of a token of one rank. */
  Meeting(RunState& state, int64_t collectives, int64_t rowBytes);

  Control& control() { return control_; }

  /** What every rank shows of itself, by rank. */
  template <class T>
  std::optional<std::vector<T>> exchange(const T& own) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kRecordBytes);
    std::vector<T> all(static_cast<size_t>(ranks_));
    const bool met = exchangeBytes(&own, sizeof(T), [&](int rank, const void* record) {
      all[static_cast<size_t>(rank)] = *static_cast<const T*>(record);
    });
    return met ? std::optional(std::move(all)) : std::nullopt;
  }

  /** A step of this rank: its borders, when it began its first layer, and when it entered each collective, on
   * the clock of the run. */
  struct Step {
    int64_t began = 0;
    int64_t layers = 0;
    int64_t ended = 0;
    std::vector<int64_t> enters;
  };
  /** The same for all ranks: the first beginning, the last first layer, the last end, the last enters. */
  std::optional<Step> together(const Step& own);

  /** Copies the merged rows of a token of this rank to `to`. */
  using CopyRow = std::function<void(int layer, int token, unsigned char* to)>;
  /** On the first rank, before it concludes: the rows of one rank, valid until the next call. Zeroes when the
   * run is given up. */
  const unsigned char* row(int layer, int rank, int token, const CopyRow& copy);
  /** Ends a step: notes go to all ranks. Until the first rank does so, the others give it the rows it wants.
   */
  bool conclude(std::span<RankNotes> notes, const CopyRow& copy);

  /** The rank that is at the earliest place by what its process shows. */
  int hindmost() const;

 private:
  struct Room;
  static constexpr size_t kRecordBytes = 512;

  bool exchangeBytes(const void* own, size_t bytes, const std::function<void(int, const void*)>& take);
  Room& room(int rank) const;
  int64_t* enters(int rank) const;
  unsigned char* rowOf(int rank) const;

  RunState& state_;
  const int ranks_;
  const int self_;
  const int64_t collectives_;
  const int64_t rowBytes_;
  Control control_;
};

}  // namespace dcpscope::cuda
