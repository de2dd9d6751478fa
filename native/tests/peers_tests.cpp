#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "comm/process_peers.h"
#include "core/error.h"
#include "core/run_state.h"
#include "tests/expect.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

constexpr int kRanks = 4;
constexpr int64_t kPatience = 300'000'000;
constexpr PeerBytes kBytes{0, 0, 64, 0, 64};

/** A rank as its process would see it; here all of them are threads, which map the same memory again. */
struct Process {
  Process(const std::string& segment, int rank)
      : state(config(), RingSizes{1, 1, 1}, Member{rank, segment, rank == 0, 0}),
        peers(std::make_unique<ProcessPeers>(state, kBytes, kPatience, 100)) {}

  static Config config() {
    Config c;
    c.ranks = kRanks;
    c.heads = kRanks;
    c.processes = true;
    c.contextLens = {1};
    return c;
  }

  void cancel() { __atomic_store_n(&state.cancel, 1, __ATOMIC_RELAXED); }

  RunState state;
  std::unique_ptr<ProcessPeers> peers;
};

struct Scene {
  Scene() {
    static int number = 0;
    const std::string segment =
        "/dcpscope-test-" + std::to_string(::getpid()) + "-peers-" + std::to_string(number++);
    for (int r = 0; r < kRanks; ++r) ranks.push_back(std::make_unique<Process>(segment, r));
    Segment::unlink(segment);
  }

  template <class F>
  void each(F&& f) {
    std::vector<std::thread> threads;
    for (int r = 0; r < kRanks; ++r) threads.emplace_back([&, r] { f(r, *ranks[static_cast<size_t>(r)]); });
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<std::unique_ptr<Process>> ranks;
};

/** What a rank writes before a collective is there for all after it, and the last entry is the same for all.
 */
void peersReadWhatWasWritten() {
  Scene scene;
  scene.each([](int rank, Process& one) {
    for (int round = 0; round < 3000; ++round) {
      one.peers->memory(rank).lse[0] = static_cast<float>(round * kRanks + rank);
      const int64_t last = one.peers->enter(rank, round * 10 + rank);
      EXPECT(last == round * 10 + kRanks - 1);
      for (int r = 0; r < kRanks; ++r)
        EXPECT(one.peers->memory(r).lse[0] == static_cast<float>(round * kRanks + r));
      one.peers->meet(rank);
    }
    one.peers->throwIfLost();
  });
}

/** Whoever is cancelled, and whenever: a meeting has taken place on all ranks or on none. */
void meetingsAreOfAllOrNone() {
  for (int round = 0; round < 200; ++round) {
    Scene scene;
    int passed[kRanks] = {};
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(round * 20));
      scene.ranks[static_cast<size_t>(round % kRanks)]->cancel();
    });
    scene.each([&](int rank, Process& one) {
      while (one.peers->settle()) ++passed[rank];
      // The others hear of it a moment later, as from their leader.
      for (auto& other : scene.ranks) other->cancel();
    });
    canceller.join();
    for (const int count : passed) EXPECT(count == passed[0]);
    for (auto& one : scene.ranks) one->peers->throwIfLost();
  }
}

/** What the ranks but `missing` say after one that does not come; `leave` decides what that does in their
 * place. */
template <class F>
std::vector<std::string> said(int missing, F&& leave) {
  Scene scene;
  std::vector<std::string> words(kRanks);
  scene.each([&](int rank, Process& one) {
    one.state.at({Activity::stage, Stage::kvAppend, 1, 5});
    EXPECT(one.peers->settle());
    if (rank == missing) {
      leave(one);
      return;
    }
    one.state.at({Activity::stage, Stage::lseAllGather, 1, 5});
    EXPECT(!one.peers->settle());
    // Neither does any later one take place.
    EXPECT(!one.peers->settle());
    try {
      one.peers->throwIfLost();
    } catch (const EngineError& error) {
      words[static_cast<size_t>(rank)] = std::string(name(error.code())) + ": " + error.what();
    }
  });
  return words;
}

void whoDoesNotComeIsNamed() {
  const std::string absent =
      "ERR_ABSENT: rank 2 did not come to lse_all_gather of layer 1, step 5 within 0 s; it is in kv_append "
      "of "
      "layer 1, step 5";
  const std::string abandoned = "ERR_ABANDONED: another rank has ended the run";
  int named = 0;
  for (const std::string& words : said(2, [](Process&) {})) {
    EXPECT(words.empty() || words == absent || words == abandoned);
    named += words == absent ? 1 : 0;
  }
  EXPECT(named == 1);
  for (const std::string& words : said(2, [](Process& one) { one.peers.reset(); }))
    EXPECT(words.empty() || words == abandoned);
}

/** A rank that is slow, but goes on, is waited for. */
void patienceIsForThoseWhoGoOn() {
  Scene scene;
  scene.each([](int rank, Process& one) {
    for (int i = 0; rank == 1 && i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT(!one.state.cancelled());
    }
    EXPECT(one.peers->settle());
  });
}

/** A rank that waits for something else, its GPU, sees one that stands still, and one that has left. */
void whoWaitsForElseWatches() {
  constexpr int64_t kRoom = 8;
  const std::string segment = "/dcpscope-test-" + std::to_string(::getpid()) + "-control";
  std::vector<std::unique_ptr<RunState>> states;
  std::vector<std::unique_ptr<Control>> ranks;
  const auto gather = [&](const std::string& name) {
    ranks.clear();
    states.clear();
    for (int r = 0; r < kRanks; ++r) {
      states.push_back(
          std::make_unique<RunState>(Process::config(), RingSizes{1, 1, 1}, Member{r, name, r == 0, 0}));
      ranks.push_back(std::make_unique<Control>(*states.back(), kRoom, kPatience, 100));
    }
    Segment::unlink(name);
  };
  const auto words = [](const Control& control) -> std::string {
    try {
      control.throwIfLost();
    } catch (const EngineError& error) {
      return std::string(name(error.code())) + ": " + error.what();
    }
    return "";
  };
  const auto beat = [&](int first, int end) {
    for (int r = first; r < end; ++r) static_cast<void>(states[static_cast<size_t>(r)]->cancelled());
  };

  gather(segment + "1");
  states[0]->at({Activity::stage, Stage::merge, 3, 7});
  states[3]->at({Activity::stage, Stage::decodeAttn, 3, 7});
  ranks[0]->beginWatch();
  bool goesOn = true;
  for (int i = 0; i < 200 && goesOn; ++i) {
    beat(0, 3);
    goesOn = ranks[0]->watch();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT(!goesOn && states[0]->cancelled());
  EXPECT(words(*ranks[0]) ==
         "ERR_ABSENT: rank 3 did not come to merge of layer 3, step 7 within 0 s; it is in decode_attn of "
         "layer 3, step 7");
  // The others hear of it, and no meeting takes place any more.
  EXPECT(!ranks[1]->watch());
  EXPECT(words(*ranks[1]) == "ERR_ABANDONED: another rank has ended the run");
  EXPECT(!ranks[2]->meet());

  gather(segment + "2");
  ranks[2].reset();
  EXPECT(!ranks[1]->watch());
  EXPECT(words(*ranks[1]) == "ERR_ABANDONED: another rank has ended the run");

  gather(segment + "3");
  ranks[1]->lose(2);
  EXPECT(words(*ranks[1]).rfind("ERR_ABSENT: rank 2 did not come to its start", 0) == 0);

  // A rank that is cancelled when another gives up was not lost.
  gather(segment + "4");
  __atomic_store_n(&states[0]->cancel, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&states[1]->cancel, 1, __ATOMIC_RELAXED);
  EXPECT(!ranks[0]->meet());
  EXPECT(ranks[1]->watch() || words(*ranks[1]).empty());
}

}  // namespace

void peers() {
  whoWaitsForElseWatches();
  peersReadWhatWasWritten();
  meetingsAreOfAllOrNone();
  whoDoesNotComeIsNamed();
  patienceIsForThoseWhoGoOn();
}

}  // namespace dcpscope::tests
