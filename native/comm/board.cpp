#include "comm/board.h"

#include <ctime>
#include <type_traits>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace dcpscope {
namespace {

constexpr int64_t kAlign = 4096;

int64_t aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace

// Other processes see the same bytes, which only holds for what needs no lock.
static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::is_trivially_copyable_v<StepReport>);

int64_t Board::bytes(int64_t room, int ranks) {
  return aligned(static_cast<int64_t>(sizeof(Header)) + ranks * static_cast<int64_t>(sizeof(Seat))) +
         ranks * aligned(room);
}

// All bytes are zero, which is what new objects would be made of.
Board::Board(unsigned char* memory, int64_t room, int ranks)
    : header_(reinterpret_cast<Header*>(memory)), room_(room), ranks_(ranks) {}

unsigned char* Board::room(int rank) const {
  return reinterpret_cast<unsigned char*>(header_) + bytes(room_, ranks_) - (ranks_ - rank) * aligned(room_);
}

bool Board::arrive(int rank, uint32_t turn) {
  arrived(rank).store(turn, std::memory_order_release);
  const uint64_t all = static_cast<uint64_t>(turn) * static_cast<uint64_t>(ranks_);
  if (header_->arrivals.fetch_add(1, std::memory_order_acq_rel) + 1 != all) return false;
  uint32_t before = turn - 1;
  return meetings().compare_exchange_strong(before, turn, std::memory_order_acq_rel);
}

bool Board::end(uint32_t turn) {
  uint32_t before = turn - 1;
  return meetings().compare_exchange_strong(before, before | kEnded, std::memory_order_acq_rel);
}

#if defined(__linux__)

void Board::ring() const { syscall(SYS_futex, &meetings(), FUTEX_WAKE, ranks_, nullptr, nullptr, 0); }

void Board::sleep(uint32_t seen, int64_t ns) const {
  const timespec most{0, ns};
  syscall(SYS_futex, &meetings(), FUTEX_WAIT, seen, &most, nullptr, 0);
}

#else

void Board::ring() const {}

void Board::sleep(uint32_t, int64_t) const {
  const timespec moment{0, 100'000};
  nanosleep(&moment, nullptr);
}

#endif

}  // namespace dcpscope
