#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "cuda/run/meeting.h"
#include "tests/expect.h"
#include "tests/places.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

using cuda::Meeting;

constexpr int kRanks = 3;
constexpr int64_t kCollectives = 4;
constexpr int64_t kRowBytes = 24;
constexpr int kSteps = 20;

Config threeRanks() {
  Config c;
  c.ranks = c.heads = kRanks;
  c.processes = c.cuda = true;
  c.contextLens = {1};
  c.layers = 10;
  c.draft = true;
  return c;
}

/** One rank, in whatever process. The others look for the memory until the first has made it. */
struct Seated {
  Seated(Places& places, int rank) : state(threeRanks(), RingSizes{1, 1, 1}, places.of(rank)) {
    for (int tries = 0; meeting == nullptr; ++tries) try {
        meeting = std::make_unique<Meeting>(state, kCollectives, kRowBytes);
      } catch (const EngineError&) {
        if (tries == 500) throw;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    if (rank == 0) places.firstCame(meeting->control().port());
    meeting->control().setPatience(500'000'000);
  }
  RunState state;
  std::unique_ptr<Meeting> meeting;
};

/** Runs `body` for each rank, in processes of their own; what they exit with, or minus the signal. */
std::vector<int> inProcesses(Over over, const std::function<int(Seated&, int)>& body,
                             const std::function<void(const std::vector<pid_t>&)>& meanwhile) {
  Places places(over);
  std::vector<pid_t> children;
  for (int r = 0; r < kRanks; ++r) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 99;
      try {
        Seated seated(places, r);
        code = body(seated, r);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", r, error.what());
      }
      ::_exit(code);
    }
    children.push_back(child);
  }
  meanwhile(children);
  std::vector<int> ends;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    ends.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  }
  return ends;
}

unsigned char byteOf(int layer, int rank, int token) {
  return static_cast<unsigned char>(100 * layer + 10 * rank + token);
}

Meeting::CopyRow rowsOf(int rank) {
  return [rank](int layer, int token, unsigned char* to) {
    std::memset(to, byteOf(layer, rank, token), static_cast<size_t>(kRowBytes));
  };
}

/** What a rank does in a run; 0 when all was as it should be. */
int takePart(Seated& seated, int rank) {
  Meeting& meeting = *seated.meeting;
  struct Record {
    int rank;
    char text[300];
  };
  Record own{rank, ""};
  std::snprintf(own.text, sizeof(own.text), "I am %d", rank);
  const auto records = meeting.exchange(own);
  if (!records) return 1;
  for (int r = 0; r < kRanks; ++r)
    if ((*records)[static_cast<size_t>(r)].rank != r ||
        (*records)[static_cast<size_t>(r)].text != "I am " + std::to_string(r))
      return 2;
  for (int step = 0; step < kSteps; ++step) {
    seated.state.frame.step = step;
    const int64_t at = 1000 * step;
    Meeting::Step mine{at + rank, at + 10 + rank, at + 100 - rank, {}};
    for (int i = 0; i < kCollectives; ++i) mine.enters.push_back(at + 10 * i + (i % kRanks == rank ? 7 : 0));
    const auto all = meeting.together(mine);
    if (!all || all->began != at || all->layers != at + 9 + kRanks || all->ended != at + 100) return 3;
    for (int i = 0; i < kCollectives; ++i)
      if (all->enters[static_cast<size_t>(i)] != at + 10 * i + 7) return 4;
    // The first rank wants as many rows as it likes, of some steps none.
    for (int i = 0; rank == 0 && i < step % 4; ++i)
      for (int r = 0; r < kRanks; ++r) {
        const unsigned char* row = meeting.row(i % 2, r, i, rowsOf(rank));
        if (row[0] != byteOf(i % 2, r, i) || row[kRowBytes - 1] != row[0]) return 5;
      }
    std::vector<RankNotes> notes(kRanks);
    notes[static_cast<size_t>(rank)].merged.count = 10 * step + rank;
    if (!meeting.conclude(notes, rowsOf(rank))) return 6;
    for (int r = 0; r < kRanks; ++r)
      if (notes[static_cast<size_t>(r)].merged.count != 10 * step + r) return 7;
  }
  return 0;
}

void ranksTellEachOtherOfTheirSteps(Over over) {
  EXPECT(inProcesses(over, takePart, [](const auto&) {}) == std::vector<int>(kRanks, 0));
}

/** One process is killed, or stops, where the others wait for it: all end, and the first to notice says who.
 */
void aLostProcessEndsAll(Over over) {
  for (const int signal : {SIGKILL, SIGSTOP})
    for (const bool checks : {false, true}) {
      const auto ends = inProcesses(
          over,
          [&](Seated& seated, int rank) {
            std::vector<RankNotes> notes(kRanks);
            if (!seated.meeting->exchange(rank)) return 1;
            if (rank == 1) ::raise(signal);
            if (checks && rank == 0) static_cast<void>(seated.meeting->row(0, 1, 0, rowsOf(rank)));
            if (seated.meeting->conclude(notes, rowsOf(rank))) return 2;
            try {
              seated.meeting->control().throwIfLost();
            } catch (const EngineError& error) {
              const std::string said = error.what();
              const bool named = said.find("rank 1 did not come to") == 0 ||
                                 said.find("the connection of rank 1 to rank 0 broke (") == 0;
              return error.code() == ErrorCode::absent ? (named ? 10 : 3)
                                                       : (error.code() == ErrorCode::abandoned ? 11 : 4);
            }
            return 5;
          },
          [&](const std::vector<pid_t>& children) {
            if (signal != SIGSTOP) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(1800));
            ::kill(children[1], SIGKILL);
          });
      EXPECT(ends[1] == -SIGKILL);
      EXPECT(ends[0] == 10 || ends[2] == 10);
      for (const int rank : {0, 2})
        EXPECT(ends[static_cast<size_t>(rank)] == 10 || ends[static_cast<size_t>(rank)] == 11);
    }
}

void theHindmostIsAtTheEarliestPlace() {
  Places places(Over::memory);
  std::vector<std::unique_ptr<Seated>> ranks;
  for (int r = 0; r < kRanks; ++r) ranks.push_back(std::make_unique<Seated>(places, r));
  const auto hindmost = [&](const Place& first, const Place& second, const Place& third) {
    ranks[0]->state.at(first);
    ranks[1]->state.at(second);
    ranks[2]->state.at(third);
    return ranks[0]->meeting->hindmost();
  };
  const auto stage = [](Stage of, int layer, int step) {
    return Place{Activity::stage, of, static_cast<int16_t>(layer), step};
  };
  EXPECT(hindmost(stage(Stage::merge, 1, 5), stage(Stage::merge, 1, 5), stage(Stage::decodeAttn, 1, 5)) == 2);
  EXPECT(hindmost(stage(Stage::merge, 1, 5), stage(Stage::neutralize, 2, 5), stage(Stage::merge, 1, 5)) == 0);
  EXPECT(hindmost(stage(Stage::metadata, -1, 6), stage(Stage::merge, 3, 5), stage(Stage::merge, 9, 6)) == 1);
  // The draft comes before the model.
  EXPECT(hindmost(stage(Stage::metadata, -1, 5), stage(Stage::merge, 10, 5), stage(Stage::merge, 0, 5)) == 1);
  EXPECT(hindmost(stage(Stage::metadata, 10, 6), stage(Stage::merge, 10, 6), stage(Stage::merge, 9, 5)) == 2);
  EXPECT(hindmost(stage(Stage::merge, 1, 5), {Activity::beginning, {}, -1, 5},
                  {Activity::ending, {}, -1, 5}) == 1);
}

}  // namespace

void meetings() {
  for (const Over over : kBoth) {
    ranksTellEachOtherOfTheirSteps(over);
    aLostProcessEndsAll(over);
  }
  theHindmostIsAtTheEarliestPlace();
}

}  // namespace dcpscope::tests
