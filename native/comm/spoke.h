#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/frame_line.h"
#include "comm/news.h"
#include "comm/venue.h"
#include "comm/wake.h"

namespace dcpscope {

/** The venue of a rank that tells the first one (Hub) what it shows, and is told by that of all. */
class Spoke final : public Venue {
 public:
  /** ERR_ENGINE in one line when the first rank cannot be reached. */
  Spoke(const Member& member, int64_t room, int ranks);
  ~Spoke() override;

  void arrive(uint32_t turn, std::span<const Shown> shown) override;
  bool end(uint32_t turn) override;
  bool hears() const override { return news::steadyNow() - heardAt_ < news::kSilentNs; }
  std::string broken() const override;

 private:
  void serve();
  bool take(std::string_view bytes);
  bool takeMeeting(FrameReader& frame);
  bool takeBeat(FrameReader& frame);
  void beat();
  void send(const FrameWriter& frame);

  const int self_;
  const Wake wake_;
  mutable std::mutex mutex_;
  FrameLine line_;
  std::vector<Shown> taken_;
  std::string broken_;
  std::atomic<int64_t> heardAt_;
  std::atomic<int> endedBy_{-1};
  int64_t beatAt_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace dcpscope
