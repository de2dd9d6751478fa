#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/frame_line.h"
#include "comm/news.h"
#include "comm/venue.h"
#include "comm/wake.h"

namespace dcpscope {

/** The venue of the first rank of several machines: the others tell it what they show, and it tells all.
 * Whether a meeting takes place is decided here. */
class Hub final : public Venue {
 public:
  /** Returns at once; the others come by and by. */
  Hub(const Member& member, int64_t room, int ranks);
  ~Hub() override;

  void arrive(uint32_t turn, std::span<const Shown> shown) override;
  bool end(uint32_t turn) override;
  std::string broken() const override;
  int port() const override { return listener_.port(); }

 private:
  /** A connection, at first of a stranger. */
  struct Peer {
    FrameLine line;
    int64_t since;
    int rank = -1;
    bool left = false;
  };

  void serve();
  /** One round of looking at all sockets. */
  void round();
  void acceptAll();
  bool take(Peer& peer, std::string_view bytes);
  bool greet(Peer& peer, FrameReader& frame);
  bool takeArrival(int rank, FrameReader& frame);
  void arrived(int rank, uint32_t turn, std::span<const Shown> shown);
  void drop(Peer& peer);
  /** Tells all what has become of the meetings. */
  void tellAll();
  void beat();
  FrameWriter state() const;
  void broadcast(const FrameWriter& frame, bool evenIfBusy);

  const std::string name_;
  Socket listener_;
  const Wake wake_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Peer>> peers_;
  /** What each rank shows at the next meeting, as others are told. */
  std::vector<FrameWriter> shown_;
  std::vector<Shown> taken_;
  int endedBy_ = -1;
  std::string broken_;
  int64_t beatAt_ = 0;
  int64_t stopAt_ = 0;
  std::thread thread_;
};

}  // namespace dcpscope
