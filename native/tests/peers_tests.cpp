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
#include "tests/places.h"
#include "tests/tests.h"

namespace dcpscope::tests {
namespace {

constexpr int kRanks = 4;
constexpr int64_t kPatience = 300'000'000;
constexpr PeerBytes kBytes{0, 0, 64, 0, 64};

/** A rank as its process would see it; here all of them are threads, which map the same memory again. */
struct Process {
  explicit Process(const Member& member)
      : state(config(), RingSizes{1, 1, 1}, member),
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
  explicit Scene(Over over) : places(over) {
    for (int r = 0; r < kRanks; ++r) {
      ranks.push_back(std::make_unique<Process>(places.of(r)));
      if (r == 0) places.firstCame(ranks[0]->peers->port());
    }
  }

  template <class F>
  void each(F&& f) {
    std::vector<std::thread> threads;
    for (int r = 0; r < kRanks; ++r) threads.emplace_back([&, r] { f(r, *ranks[static_cast<size_t>(r)]); });
    for (std::thread& thread : threads) thread.join();
  }

  Places places;
  std::vector<std::unique_ptr<Process>> ranks;
};

/** What a rank writes before a collective is there for all after it, and the last entry is the same for all.
 */
void peersReadWhatWasWritten(Over over) {
  Scene scene(over);
  scene.each([](int rank, Process& one) {
    for (int round = 0; round < 3000; ++round) {
      one.peers->memory(rank).lse[0] = static_cast<float>(round * kRanks + rank);
      const PeerPart lse[] = {{one.peers->memory(rank).lse, kBytes.lse}};
      const int64_t last = one.peers->enter(rank, round * 10 + rank, lse);
      EXPECT(last == round * 10 + kRanks - 1);
      for (int r = 0; r < kRanks; ++r)
        EXPECT(one.peers->memory(r).lse[0] == static_cast<float>(round * kRanks + r));
      one.peers->memory(rank).merged[0] = static_cast<unsigned char>(round + rank);
      EXPECT(one.peers->settle(true));
      for (int r = 0; rank == 0 && r < kRanks; ++r)
        EXPECT(one.peers->memory(r).merged[0] == static_cast<unsigned char>(round + r));
      one.peers->meet(rank);
    }
    one.peers->throwIfLost();
  });
}

/** Whoever is cancelled, and whenever: a meeting has taken place on all ranks or on none. */
void meetingsAreOfAllOrNone(Over over) {
  for (int round = 0; round < 200; ++round) {
    Scene scene(over);
    int passed[kRanks] = {};
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(round * 20));
      scene.ranks[static_cast<size_t>(round % kRanks)]->cancel();
    });
    scene.each([&](int rank, Process& one) {
      while (one.peers->settle(false)) ++passed[rank];
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
std::vector<std::string> said(Over over, int missing, F&& leave) {
  Scene scene(over);
  std::vector<std::string> words(kRanks);
  scene.each([&](int rank, Process& one) {
    one.state.at({Activity::stage, Stage::kvAppend, 1, 5});
    EXPECT(one.peers->settle(false));
    if (rank == missing) {
      leave(one);
      return;
    }
    one.state.at({Activity::stage, Stage::lseAllGather, 1, 5});
    EXPECT(!one.peers->settle(false));
    // Neither does any later one take place.
    EXPECT(!one.peers->settle(false));
    try {
      one.peers->throwIfLost();
    } catch (const EngineError& error) {
      words[static_cast<size_t>(rank)] = std::string(name(error.code())) + ": " + error.what();
    }
  });
  return words;
}

void whoDoesNotComeIsNamed(Over over) {
  const std::string absent =
      "ERR_ABSENT: rank 2 did not come to lse_all_gather of layer 1, step 5 within 0 s; it is in kv_append "
      "of "
      "layer 1, step 5";
  const std::string abandoned = "ERR_ABANDONED: another rank has ended the run";
  int named = 0;
  for (const std::string& words : said(over, 2, [](Process&) {})) {
    EXPECT(words.empty() || words == absent || words == abandoned);
    named += words == absent ? 1 : 0;
  }
  EXPECT(named == 1);
  for (const std::string& words : said(over, 2, [](Process& one) { one.peers.reset(); }))
    EXPECT(words.empty() || words == abandoned);
}

/** A rank that is slow, but goes on, is waited for. */
void patienceIsForThoseWhoGoOn(Over over) {
  Scene scene(over);
  scene.each([](int rank, Process& one) {
    for (int i = 0; rank == 1 && i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT(!one.state.cancelled());
    }
    EXPECT(one.peers->settle(false));
  });
}

/** A rank that waits for something else, its GPU, sees one that stands still, and one that has left. */
void whoWaitsForElseWatches(Over over) {
  constexpr int64_t kRoom = 8;
  std::vector<std::unique_ptr<RunState>> states;
  std::vector<std::unique_ptr<Control>> ranks;
  const auto gather = [&] {
    ranks.clear();
    states.clear();
    Places places(over);
    for (int r = 0; r < kRanks; ++r) {
      states.push_back(std::make_unique<RunState>(Process::config(), RingSizes{1, 1, 1}, places.of(r)));
      ranks.push_back(std::make_unique<Control>(*states.back(), kRoom, kPatience, 100));
      if (r == 0) places.firstCame(ranks[0]->port());
    }
  };
  /** Whether a rank hears, soon, that it does not go on. */
  const auto isEnded = [&](int rank) {
    bool goesOn = true;
    for (int i = 0; i < 100 && goesOn; ++i) {
      goesOn = ranks[static_cast<size_t>(rank)]->watch();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return !goesOn;
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

  gather();
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
  EXPECT(isEnded(1));
  EXPECT(words(*ranks[1]) == "ERR_ABANDONED: another rank has ended the run");
  EXPECT(!ranks[2]->meet());

  gather();
  ranks[2].reset();
  EXPECT(isEnded(1));
  EXPECT(words(*ranks[1]) == "ERR_ABANDONED: another rank has ended the run");

  gather();
  ranks[1]->lose(2, kPatience);
  EXPECT(words(*ranks[1]).rfind("ERR_ABSENT: rank 2 did not come to its start", 0) == 0);

  // A rank that is cancelled when another gives up was not lost.
  gather();
  __atomic_store_n(&states[0]->cancel, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&states[1]->cancel, 1, __ATOMIC_RELAXED);
  EXPECT(!ranks[0]->meet());
  EXPECT(ranks[1]->watch() || words(*ranks[1]).empty());
}

}  // namespace

void peers() {
  for (const Over over : kBoth) {
    whoWaitsForElseWatches(over);
    peersReadWhatWasWritten(over);
    meetingsAreOfAllOrNone(over);
    whoDoesNotComeIsNamed(over);
    patienceIsForThoseWhoGoOn(over);
  }
}

}  // namespace dcpscope::tests
