#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "comm/board.h"
#include "comm/segment.h"
#include "core/member.h"

namespace dcpscope {

/** Where the ranks of a group meet: the memory of one machine, or the network. */
class Venue {
 public:
  virtual ~Venue() = default;
  Venue(const Venue&) = delete;
  Venue& operator=(const Venue&) = delete;

  /** As this process sees it. */
  const Board& board() const { return board_; }

  /** This rank has come to the meeting `turn`. Others see what is `shown` of its room, and its report, once
   * that has taken place. */
  virtual void arrive(uint32_t turn, std::span<const Shown> shown) = 0;
  /** Tries to keep the meeting `turn` from taking place on any rank; false when it has taken place, or when
   * another rank was first. */
  virtual bool end(uint32_t turn) = 0;

  /** Whether the board shows the others as they are, as far as anybody knows; else all of them as the first
   * rank told of them a while ago. */
  virtual bool hears() const { return true; }
  /** What broke, in words, where that has ended the run. */
  virtual std::string broken() const { return ""; }
  /** Where the first rank listens; 0 where nobody does. */
  virtual int port() const { return 0; }

 protected:
  Venue(Segment memory, int64_t room, int ranks)
      : memory_(std::move(memory)), board_(memory_.data(), room, ranks) {}

 private:
  Segment memory_;

 protected:
  Board board_;
};

/** The one that a rank is told to come to; `room`: bytes that each shows the others. */
std::unique_ptr<Venue> venueOf(const Member& member, int64_t room, int ranks);

}  // namespace dcpscope
