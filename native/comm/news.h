#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/board.h"
#include "comm/frame_line.h"

/** What the first rank (Hub) and the others (Spoke) tell each other of a board of which each has a copy. */
namespace dcpscope::news {

enum class Kind : uint8_t {
  /** To the hub: who one is. */
  hello,
  /** To the hub: come to a meeting, with what one shows. */
  arrived,
  /** To the hub: a meeting is not to take place. */
  end,
  /** To the hub: come to no more meeting. */
  left,
  /** Signs of life. To the hub where one is, from it where all are and what has become of the meetings. */
  beat,
  /** From the hub: a meeting has taken place; what each rank shows. */
  met,
};

/** Time between two signs of life. */
constexpr int64_t kBeatNs = 50'000'000;
/** A hub that has said nothing for so long does not tell of the others any more. */
constexpr int64_t kSilentNs = 500'000'000;

/** Bytes of any frame about the rooms of `ranks` ranks. */
int64_t mostBytes(const Board& board, int ranks);

void putBeacon(FrameWriter& frame, const Beacon& beacon);
void takeBeacon(FrameReader& frame, Beacon& beacon);

/** Where a rank is, its report, and what it shows to `to`. */
void putShown(FrameWriter& frame, const Board& board, int rank, std::span<const Shown> shown, Readers to);
/** Puts it on the board and notes what came in `shown`; false when it is no such thing. */
bool takeShown(FrameReader& frame, const Board& board, int rank, std::vector<Shown>& shown);
/** Of this rank itself, which has it already. */
bool skipShown(FrameReader& frame, const Board& board);

int64_t steadyNow();

}  // namespace dcpscope::news
