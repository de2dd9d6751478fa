#pragma once
#include <atomic>
#include <cstdint>

#include "comm/step_report.h"
#include "core/place.h"

namespace dcpscope {

/** Who reads what a rank shows. */
enum class Readers : uint8_t { all, first };

/** Bytes of a rank's room that others read after the next meeting. */
struct Shown {
  int64_t at = 0;
  int64_t bytes = 0;
  Readers readers = Readers::all;
};

/**
 * What the ranks of a group show each other: which meetings have taken place, where each rank is, and a room
 * of each. It lies in zeroed memory that they share, or of which each has a copy.
 */
class Board {
 public:
  /** In the word that counts meetings: no further one takes place. */
  static constexpr uint32_t kEnded = uint32_t{1} << 31;

  static int64_t bytes(int64_t room, int ranks);

  Board(unsigned char* memory, int64_t room, int ranks);

  int ranks() const { return ranks_; }
  int64_t roomBytes() const { return room_; }

  /** Meetings that have taken place, and kEnded. */
  std::atomic<uint32_t>& meetings() const { return header_->meetings; }
  Beacon& beacon(int rank) const { return seat(rank).beacon; }
  /** The last meeting that a rank has come to. */
  std::atomic<uint32_t>& arrived(int rank) const { return seat(rank).arrived; }
  StepReport& report(int rank) const { return seat(rank).report; }
  /** Aligned to a page. */
  unsigned char* room(int rank) const;

  /** One more rank has come to the meeting `turn`; true when it was the last and the meeting has taken place.
   */
  bool arrive(int rank, uint32_t turn);
  /** Keeps the meeting `turn` from taking place; false when it has, or when somebody else was first. */
  bool end(uint32_t turn);
  /** No further meeting takes place. */
  void close() { meetings().fetch_or(kEnded, std::memory_order_acq_rel); }

  /** Wakes those who sleep until the word that counts meetings changes. */
  void ring() const;
  /** Sleeps as long as that word is `seen`, `ns` at most. */
  void sleep(uint32_t seen, int64_t ns) const;

 private:
  struct alignas(128) Header {
    std::atomic<uint32_t> meetings{0};
    alignas(128) std::atomic<uint64_t> arrivals{0};
  };
  struct alignas(128) Seat {
    Beacon beacon;
    std::atomic<uint32_t> arrived{0};
    StepReport report;
  };
  Seat& seat(int rank) const { return reinterpret_cast<Seat*>(header_ + 1)[rank]; }

  Header* header_;
  int64_t room_;
  int ranks_;
};

}  // namespace dcpscope
