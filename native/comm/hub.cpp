#include "comm/hub.h"

#include <poll.h>

#include <algorithm>

namespace dcpscope {

using news::Kind;

namespace {

/** What strangers may take: connections, time and bytes to say who they are. */
constexpr size_t kStrangers = 64;
constexpr int64_t kGreetingNs = 5'000'000'000;
constexpr int64_t kGreetingBytes = 256;
/** How long the others may take to hear the end. */
constexpr int64_t kLastWordsNs = 1'000'000'000;

}  // namespace

Hub::Hub(const Member& member, int64_t room, int ranks)
    : Venue(Segment::alone(Board::bytes(room, ranks)), room, ranks),
      name_(member.segment),
      listener_(Socket::listen(member.network->address)),
      shown_(static_cast<size_t>(ranks)),
      thread_([this] { serve(); }) {}

Hub::~Hub() {
  {
    const std::lock_guard lock(mutex_);
    board_.close();
    tellAll();
    for (const auto& peer : peers_) peer->line.finish();
    stopAt_ = news::steadyNow() + kLastWordsNs;
  }
  wake_.ring();
  thread_.join();
}

void Hub::arrive(uint32_t turn, std::span<const Shown> shown) {
  const std::lock_guard lock(mutex_);
  arrived(0, turn, shown);
}

bool Hub::end(uint32_t turn) {
  const std::lock_guard lock(mutex_);
  if (!board_.end(turn)) return false;
  endedBy_ = 0;
  tellAll();
  return true;
}

std::string Hub::broken() const {
  const std::lock_guard lock(mutex_);
  return broken_;
}

void Hub::serve() {
  for (;;) {
    std::vector<pollfd> polled{{wake_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}};
    {
      const std::lock_guard lock(mutex_);
      const bool over =
          std::all_of(peers_.begin(), peers_.end(), [](const auto& peer) { return peer->line.over(); });
      if (stopAt_ > 0 && (over || news::steadyNow() > stopAt_)) return;
      for (const auto& peer : peers_)
        polled.push_back(
            {peer->line.fd(), static_cast<short>(POLLIN | (peer->line.waits() ? POLLOUT : 0)), 0});
    }
    static_cast<void>(::poll(polled.data(), polled.size(), static_cast<int>(news::kBeatNs / 1'000'000)));
    const std::lock_guard lock(mutex_);
    wake_.clear();
    round();
  }
}

void Hub::round() {
  for (const auto& peer : peers_) {
    peer->line.flush();
    peer->line.receive([&](std::string_view bytes) { return take(*peer, bytes); });
    const bool slow = peer->rank < 0 && news::steadyNow() - peer->since > kGreetingNs;
    if (slow) peer->line.close("it did not say who it is");
    if (peer->line.over()) drop(*peer);
  }
  std::erase_if(peers_, [](const auto& peer) { return peer->line.over(); });
  acceptAll();
  beat();
}

void Hub::acceptAll() {
  while (Socket socket = listener_.accept())
    peers_.push_back(
        std::make_unique<Peer>(Peer{FrameLine(std::move(socket), kGreetingBytes), news::steadyNow()}));
  const auto isStranger = [](const auto& peer) { return peer->rank < 0; };
  while (static_cast<size_t>(std::count_if(peers_.begin(), peers_.end(), isStranger)) > kStrangers)
    peers_.erase(std::find_if(peers_.begin(), peers_.end(), isStranger));
}

bool Hub::take(Peer& peer, std::string_view bytes) {
  FrameReader frame(bytes);
  const auto kind = frame.take<Kind>();
  if (!frame.ok() || (kind == Kind::hello) != (peer.rank < 0)) return false;
  switch (kind) {
    case Kind::hello:
      return greet(peer, frame);
    case Kind::arrived:
      return takeArrival(peer.rank, frame);
    case Kind::end:
      if (!board_.end(frame.take<uint32_t>())) return frame.ok();
      endedBy_ = peer.rank;
      tellAll();
      return frame.ok();
    case Kind::left:
      peer.left = true;
      board_.close();
      tellAll();
      return true;
    case Kind::beat:
      news::takeBeacon(frame, board_.beacon(peer.rank));
      return frame.ok();
    default:
      return false;
  }
}

bool Hub::greet(Peer& peer, FrameReader& frame) {
  const auto rank = frame.take<int32_t>();
  std::string name(name_.size(), ' ');
  frame.take(name.data(), static_cast<int64_t>(name.size()));
  const bool known =
      std::any_of(peers_.begin(), peers_.end(), [&](const auto& one) { return one->rank == rank; });
  if (!frame.ok() || !frame.empty() || name != name_ || rank < 1 || rank >= board_.ranks() || known)
    return false;
  peer.rank = rank;
  peer.line.setMost(news::mostBytes(board_, 1));
  return true;
}

bool Hub::takeArrival(int rank, FrameReader& frame) {
  const auto turn = frame.take<uint32_t>();
  if (!frame.ok() || turn != board_.arrived(rank).load(std::memory_order_relaxed) + 1) return false;
  if (!news::takeShown(frame, board_, rank, taken_)) return false;
  arrived(rank, turn, taken_);
  return true;
}

void Hub::arrived(int rank, uint32_t turn, std::span<const Shown> shown) {
  FrameWriter& own = shown_[static_cast<size_t>(rank)];
  own = {};
  news::putShown(own, board_, rank, shown, Readers::all);
  if (!board_.arrive(rank, turn)) return;
  FrameWriter frame;
  frame.put(Kind::met).put(turn);
  for (const FrameWriter& one : shown_)
    frame.put(one.bytes().data(), static_cast<int64_t>(one.bytes().size()));
  broadcast(frame, true);
  board_.ring();
}

/** A rank that does not say that it leaves is missed, unless the run is over anyway. */
void Hub::drop(Peer& peer) {
  if (peer.rank < 0 || peer.left) return;
  if (board_.meetings().load(std::memory_order_acquire) < Board::kEnded)
    broken_ =
        "the connection of rank " + std::to_string(peer.rank) + " to rank 0 broke (" + peer.line.why() + ")";
  board_.close();
  tellAll();
}

void Hub::tellAll() {
  broadcast(state(), true);
  board_.ring();
}

void Hub::beat() {
  const int64_t now = news::steadyNow();
  if (now - beatAt_ < news::kBeatNs) return;
  beatAt_ = now;
  broadcast(state(), false);
}

FrameWriter Hub::state() const {
  FrameWriter frame;
  frame.put(Kind::beat).put(board_.meetings().load(std::memory_order_acquire)).put(endedBy_);
  for (int r = 0; r < board_.ranks(); ++r) {
    news::putBeacon(frame, board_.beacon(r));
    frame.put(board_.arrived(r).load(std::memory_order_acquire));
  }
  return frame;
}

/** A rank that does not take what it was sent needs no further signs of life. */
void Hub::broadcast(const FrameWriter& frame, bool evenIfBusy) {
  bool waits = false;
  for (const auto& peer : peers_) {
    if (peer->rank < 0 || (peer->line.waits() && !evenIfBusy)) continue;
    peer->line.send(frame.bytes());
    waits = waits || peer->line.waits();
  }
  if (waits) wake_.ring();
}

}  // namespace dcpscope
