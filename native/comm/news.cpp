#include "comm/news.h"

#include <algorithm>
#include <chrono>

namespace dcpscope::news {
namespace {

/** Of a frame, beside the bytes of rooms. */
constexpr int64_t kFrameBytes = 4096;

bool fits(const Shown& one, const Board& board) {
  return one.at >= 0 && one.bytes >= 0 && one.bytes <= board.roomBytes() &&
         one.at <= board.roomBytes() - one.bytes;
}

}  // namespace

int64_t mostBytes(const Board& board, int ranks) { return ranks * (board.roomBytes() + kFrameBytes); }

void putBeacon(FrameWriter& frame, const Beacon& beacon) {
  frame.put(beacon.pulse.load(std::memory_order_relaxed)).put(beacon.place.load(std::memory_order_relaxed));
}

void takeBeacon(FrameReader& frame, Beacon& beacon) {
  const auto pulse = frame.take<uint64_t>();
  const auto place = frame.take<uint64_t>();
  if (!frame.ok()) return;
  beacon.pulse.store(pulse, std::memory_order_relaxed);
  beacon.place.store(place, std::memory_order_relaxed);
}

void putShown(FrameWriter& frame, const Board& board, int rank, std::span<const Shown> shown, Readers to) {
  const auto reads = [&](const Shown& one) { return to == Readers::first || one.readers == Readers::all; };
  putBeacon(frame, board.beacon(rank));
  frame.put(board.report(rank));
  frame.put(static_cast<uint32_t>(std::count_if(shown.begin(), shown.end(), reads)));
  for (const Shown& one : shown)
    if (reads(one)) frame.put(one).put(board.room(rank) + one.at, one.bytes);
}

bool takeShown(FrameReader& frame, const Board& board, int rank, std::vector<Shown>& shown) {
  shown.clear();
  takeBeacon(frame, board.beacon(rank));
  const auto report = frame.take<StepReport>();
  if (frame.ok()) board.report(rank) = report;
  for (auto left = frame.take<uint32_t>(); left > 0; --left) {
    const auto one = frame.take<Shown>();
    if (!frame.ok() || !fits(one, board)) return false;
    frame.take(board.room(rank) + one.at, one.bytes);
    shown.push_back(one);
  }
  return frame.ok();
}

bool skipShown(FrameReader& frame, const Board& board) {
  Beacon beacon;
  takeBeacon(frame, beacon);
  frame.take<StepReport>();
  for (auto left = frame.take<uint32_t>(); left > 0; --left) {
    const auto one = frame.take<Shown>();
    if (!frame.ok() || !fits(one, board)) return false;
    frame.skip(one.bytes);
  }
  return frame.ok();
}

int64_t steadyNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace dcpscope::news
