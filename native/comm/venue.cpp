#include "comm/venue.h"

#include "comm/hub.h"
#include "comm/spoke.h"

namespace dcpscope {
namespace {

Segment segmentOf(const Member& member, int64_t bytes) {
  return member.creates ? Segment::create(member.segment, bytes) : Segment::open(member.segment, bytes);
}

/** Memory that processes of one machine share: what one writes is there for all. */
class SharedVenue final : public Venue {
 public:
  SharedVenue(const Member& member, int64_t room, int ranks)
      : Venue(segmentOf(member, Board::bytes(room, ranks)), room, ranks), self_(member.rank) {}
  ~SharedVenue() override {
    board_.close();
    board_.ring();
  }

  void arrive(uint32_t turn, std::span<const Shown>) override {
    if (board_.arrive(self_, turn)) board_.ring();
  }

  bool end(uint32_t turn) override {
    if (!board_.end(turn)) return false;
    board_.ring();
    return true;
  }

 private:
  const int self_;
};

}  // namespace

std::unique_ptr<Venue> venueOf(const Member& member, int64_t room, int ranks) {
  if (!member.network) return std::make_unique<SharedVenue>(member, room, ranks);
  if (member.creates) return std::make_unique<Hub>(member, room, ranks);
  return std::make_unique<Spoke>(member, room, ranks);
}

}  // namespace dcpscope
