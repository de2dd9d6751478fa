#include "cuda/run/meeting.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "core/cores.h"

namespace dcpscope::cuda {
namespace {

/** Looks at the others before a rank sleeps; none where that would keep one of them from its core. */
int spinsFor(int ranks) { return usableCores() >= ranks ? 2000 : 0; }

}  // namespace

/** What a rank shows; behind it lie the times of its collectives, and then a row. */
struct alignas(64) Meeting::Room {
  std::array<unsigned char, kRecordBytes> record;
  /** Of the first rank: which row it wants. */
  struct Wish {
    bool wanted;
    int32_t layer;
    int32_t token;
  } wish;
};

Meeting::Meeting(RunState& state, int64_t collectives, int64_t rowBytes)
    : state_(state),
      ranks_(state.config.ranks),
      self_(state.firstRank()),
      collectives_(collectives),
      rowBytes_(rowBytes),
      control_(state, static_cast<int64_t>(sizeof(Room)) + collectives * 8 + rowBytes, kPeerPatienceNs,
               spinsFor(ranks_)) {}

Meeting::Room& Meeting::room(int rank) const { return *reinterpret_cast<Room*>(control_.room(rank)); }

int64_t* Meeting::enters(int rank) const { return reinterpret_cast<int64_t*>(&room(rank) + 1); }

unsigned char* Meeting::rowOf(int rank) const {
  return reinterpret_cast<unsigned char*>(enters(rank) + collectives_);
}

bool Meeting::exchangeBytes(const void* own, size_t bytes,
                            const std::function<void(int, const void*)>& take) {
  std::memcpy(room(self_).record.data(), own, bytes);
  control_.show(room(self_).record.data(), static_cast<int64_t>(bytes));
  if (!control_.meet()) return false;
  for (int r = 0; r < ranks_; ++r) take(r, room(r).record.data());
  // Before anybody writes another one.
  return control_.meet();
}

std::optional<Meeting::Step> Meeting::together(const Step& own) {
  StepReport& report = control_.report(self_);
  report.began = own.began;
  report.layers = own.layers;
  report.ended = own.ended;
  std::copy(own.enters.begin(), own.enters.end(), enters(self_));
  control_.show(enters(self_), static_cast<int64_t>(own.enters.size() * sizeof(int64_t)));
  if (!control_.meet()) return std::nullopt;
  Step all = own;
  for (int r = 0; r < ranks_; ++r) {
    all.began = std::min(all.began, control_.report(r).began);
    all.layers = std::max(all.layers, control_.report(r).layers);
    all.ended = std::max(all.ended, control_.report(r).ended);
    for (size_t i = 0; i < all.enters.size(); ++i) all.enters[i] = std::max(all.enters[i], enters(r)[i]);
  }
  return all;
}

const unsigned char* Meeting::row(int layer, int rank, int token, const CopyRow& copy) {
  Room::Wish& wish = room(self_).wish;
  // A row of all ranks comes at once, as whoever asks for one asks for those of the others next.
  if (!wish.wanted || wish.layer != layer || wish.token != token) {
    wish = {true, layer, token};
    control_.show(&wish, sizeof(wish));
    const bool asked = control_.meet();
    if (asked) copy(layer, token, rowOf(self_));
    if (!asked || !control_.meet()) std::memset(rowOf(rank), 0, static_cast<size_t>(rowBytes_));
  }
  return rowOf(rank);
}

bool Meeting::conclude(std::span<RankNotes> notes, const CopyRow& copy) {
  control_.report(self_).notes = notes[static_cast<size_t>(self_)];
  room(self_).wish = {};
  control_.show(&room(self_).wish, sizeof(Room::Wish));
  const Room::Wish& wish = room(0).wish;
  for (;;) {
    if (!control_.meet()) return false;
    if (!wish.wanted) break;
    copy(wish.layer, wish.token, rowOf(self_));
    control_.show(rowOf(self_), rowBytes_, Readers::first);
    if (!control_.meet()) return false;
  }
  for (int r = 0; r < ranks_; ++r) notes[static_cast<size_t>(r)] = control_.report(r).notes;
  return true;
}

int Meeting::hindmost() const {
  // What the draft does comes before what a step does once for the model.
  constexpr int kBeforeModel = -2;
  const auto order = [&](int rank) {
    const Place at = control_.beacon(rank).seen();
    const bool stage = at.activity == Activity::stage;
    const int layer = isDraft(state_.config, at.layer) ? kBeforeModel : at.layer;
    return std::tuple(at.step, at.activity, stage ? layer : 0, stage ? at.stage : Stage{});
  };
  int last = 0;
  for (int r = 1; r < ranks_; ++r)
    if (order(r) < order(last)) last = r;
  return last;
}

}  // namespace dcpscope::cuda
