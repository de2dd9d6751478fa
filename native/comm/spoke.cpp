#include "comm/spoke.h"

#include <poll.h>

namespace dcpscope {

using news::Kind;

namespace {

/** How long to look for the first rank: less than a rank may be silent at its start. */
constexpr int kConnectMs = 5000;
/** How long the first rank may take to decide. */
constexpr int64_t kDecideNs = 500'000'000;

FrameWriter greeting(const Member& member) {
  FrameWriter frame;
  frame.put(Kind::hello).put(static_cast<int32_t>(member.rank));
  frame.put(member.segment.data(), static_cast<int64_t>(member.segment.size()));
  return frame;
}

}  // namespace

Spoke::Spoke(const Member& member, int64_t room, int ranks)
    : Venue(Segment::alone(Board::bytes(room, ranks)), room, ranks),
      self_(member.rank),
      line_(Socket::connect(member.network->address, member.network->port, kConnectMs),
            news::mostBytes(board_, ranks)),
      heardAt_(news::steadyNow()) {
  line_.send(greeting(member).bytes());
  thread_ = std::thread([this] { serve(); });
}

Spoke::~Spoke() {
  {
    const std::lock_guard lock(mutex_);
    FrameWriter frame;
    frame.put(Kind::left);
    line_.send(frame.bytes());
    line_.finish();
    stop_ = true;
  }
  wake_.ring();
  thread_.join();
}

void Spoke::arrive(uint32_t turn, std::span<const Shown> shown) {
  board_.arrived(self_).store(turn, std::memory_order_release);
  FrameWriter frame;
  frame.put(Kind::arrived).put(turn);
  news::putShown(frame, board_, self_, shown, Readers::first);
  send(frame);
}

bool Spoke::end(uint32_t turn) {
  const auto decided = [&](uint32_t seen) { return seen >= turn; };
  uint32_t seen = board_.meetings().load(std::memory_order_acquire);
  if (decided(seen)) return false;
  FrameWriter frame;
  frame.put(Kind::end).put(turn);
  send(frame);
  const int64_t begin = news::steadyNow();
  while (!decided(seen) && news::steadyNow() - begin < kDecideNs) {
    board_.sleep(seen, news::kBeatNs);
    seen = board_.meetings().load(std::memory_order_acquire);
  }
  if (decided(seen)) return seen >= Board::kEnded && endedBy_ == self_;
  // A first rank that does not answer does not count this one any more when it comes back.
  const std::lock_guard lock(mutex_);
  line_.finish();
  line_.close("rank 0 did not answer");
  return board_.end(turn);
}

std::string Spoke::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

void Spoke::send(const FrameWriter& frame) {
  const std::lock_guard lock(mutex_);
  line_.send(frame.bytes());
  if (line_.waits()) wake_.ring();
}

void Spoke::serve() {
  for (;;) {
    pollfd polled[] = {{wake_.fd(), POLLIN, 0}, {line_.fd(), POLLIN, 0}};
    {
      const std::lock_guard lock(mutex_);
      if (stop_ || line_.over()) return;
      if (line_.waits()) polled[1].events |= POLLOUT;
    }
    static_cast<void>(::poll(polled, 2, static_cast<int>(news::kBeatNs / 1'000'000)));
    const std::lock_guard lock(mutex_);
    wake_.clear();
    line_.flush();
    line_.receive([this](std::string_view bytes) { return take(bytes); });
    beat();
    const bool ended = board_.meetings().load(std::memory_order_acquire) >= Board::kEnded;
    // The first rank goes when all have heard of the end.
    if (ended) return line_.finish();
    if (!line_.over()) continue;
    broken_ = "the connection of rank " + std::to_string(self_) + " to rank 0 broke (" + line_.why() + ")";
    board_.close();
    board_.ring();
  }
}

bool Spoke::take(std::string_view bytes) {
  FrameReader frame(bytes);
  const auto kind = frame.take<Kind>();
  heardAt_ = news::steadyNow();
  if (kind == Kind::met) return takeMeeting(frame);
  return kind == Kind::beat && takeBeat(frame);
}

bool Spoke::takeMeeting(FrameReader& frame) {
  const auto turn = frame.take<uint32_t>();
  // This rank reads nothing of the board now, as it waits for that meeting.
  if (!frame.ok() || turn != board_.arrived(self_).load(std::memory_order_relaxed)) return false;
  for (int r = 0; r < board_.ranks(); ++r)
    if (!(r == self_ ? news::skipShown(frame, board_) : news::takeShown(frame, board_, r, taken_)))
      return false;
  uint32_t before = turn - 1;
  board_.meetings().compare_exchange_strong(before, turn, std::memory_order_acq_rel);
  board_.ring();
  return true;
}

bool Spoke::takeBeat(FrameReader& frame) {
  const auto meetings = frame.take<uint32_t>();
  const auto endedBy = frame.take<int>();
  Beacon own;
  for (int r = 0; r < board_.ranks(); ++r) {
    news::takeBeacon(frame, r == self_ ? own : board_.beacon(r));
    const auto arrived = frame.take<uint32_t>();
    if (frame.ok() && r != self_) board_.arrived(r).store(arrived, std::memory_order_release);
  }
  if (!frame.ok()) return false;
  if (meetings < Board::kEnded) return true;
  endedBy_ = endedBy;
  board_.close();
  board_.ring();
  return true;
}

void Spoke::beat() {
  const int64_t now = news::steadyNow();
  if (now - beatAt_ < news::kBeatNs) return;
  beatAt_ = now;
  FrameWriter frame;
  frame.put(Kind::beat);
  news::putBeacon(frame, board_.beacon(self_));
  if (!line_.waits()) line_.send(frame.bytes());
}

}  // namespace dcpscope
