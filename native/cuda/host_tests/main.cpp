#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "cuda/host_tests/fault_tests.h"
#include "cuda/host_tests/stand_in.h"
#include "cuda/run/group.h"
#include "run/run.h"
#include "tests/expect.h"
#include "tests/places.h"

/** Whole runs of ranks in processes, with all of the host's code for GPUs, on devices made of threads. */
namespace dcpscope::cuda::host_tests {
namespace {

using tests::Over;

constexpr int kLayers = 5;
constexpr int kSteps = 8;

Config configOf(int ranks, Comm comm) {
  Config c;
  c.ranks = ranks;
  c.heads = 2 * ranks;
  c.layers = kLayers;
  c.comm = comm;
  c.cuda = c.processes = true;
  c.contextLens = {100, 5};
  c.steps = kSteps;
  c.warmup = 1;
  c.checkRows = kCheckAll;
  c.captureSteps = {1};
  c.captureLayers = {0, 3};
  return c;
}

/** A run whose ranks are processes; what each of them exits with, or minus the signal, once all have ended.
 */
class Scene {
 public:
  /** `body` is called in each process; `gpus`: each rank has one of its own. */
  Scene(const Config& config, const std::function<int(Run&, int)>& body, bool gpus = false,
        Over over = Over::memory)
      : places_(over) {
    const int64_t base = static_cast<int64_t>(steadyNs());
    for (int rank = 0; rank < config.ranks; ++rank) {
      const pid_t child = ::fork();
      if (child == 0) {
        const Gpu gpu(gpus ? rank : 0);
        ::_exit(takePart(config, gpu, places_.of(rank, base, gpus ? rank : 0), body));
      }
      children.push_back(child);
    }
  }

  std::vector<int> ends() {
    std::vector<int> all;
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      all.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    }
    return all;
  }

  std::vector<pid_t> children;

 private:
  int takePart(const Config& config, const Gpu& gpu, const Member& member,
               const std::function<int(Run&, int)>& body) {
    try {
      for (int tries = 0;; ++tries) try {
          Run run(config, gpu, member);
          if (member.rank == 0) places_.firstCame(run.port());
          return body(run, member.rank);
        } catch (const EngineError& error) {
          // The first rank makes the memory, maybe later.
          if (tries == 200 || std::string(error.what()).find("shared memory") == std::string::npos) throw;
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", member.rank, error.what());
      return 99;
    }
  }

  tests::Places places_;
};

/** Values of an integer column of a table, as far as it lies in the ring. */
template <class T>
std::vector<T> columnOf(Run& run, const char* table, const char* name) {
  for (const NamedRing& named : run.rings()) {
    if (std::strcmp(named.table, table) != 0) continue;
    for (size_t i = 0; i < named.ring->columns().size(); ++i) {
      if (std::strcmp(named.ring->columns()[i].name, name) != 0) continue;
      std::vector<T> values(static_cast<size_t>(named.ring->size()));
      named.ring->copy(i, named.ring->size(), values.data());
      return values;
    }
  }
  return {};
}

/** To its end; how many captures there are. */
size_t runAll(Run& run) {
  run.arm();
  while (run.fill(20) < 1);
  size_t captures = 0;
  for (AdvanceResult result{}; !result.finished;) {
    result = run.advance(1 << 20, 50, 0);
    captures += run.takeCaptures().size();
    if (!result.ringsFull) continue;
    for (const NamedRing& named : run.rings()) named.ring->discard(named.ring->size());
  }
  return captures;
}

/** What a step does once lasts until all ranks, so also this one, have begun their first layer. */
bool layersBeginInTime(Run& run) {
  const auto layers = columnOf<int32_t>(run, "spans", "layer");
  const auto stepOf = columnOf<int32_t>(run, "spans", "step");
  const auto starts = columnOf<int64_t>(run, "spans", "start_ns");
  const auto steps = columnOf<int32_t>(run, "steps", "step");
  const auto begins = columnOf<int64_t>(run, "steps", "start_ns");
  const auto once = columnOf<int64_t>(run, "steps", "once_ns");
  const auto walls = columnOf<int64_t>(run, "steps", "wall_ns");
  for (size_t s = 0; s < steps.size(); ++s) {
    const auto first = std::find_if(layers.begin(), layers.end(), [&](const int32_t& layer) {
      return layer == 0 && stepOf[static_cast<size_t>(&layer - layers.data())] == steps[s];
    });
    if (first == layers.end()) return false;
    const int64_t began = starts[static_cast<size_t>(first - layers.begin())];
    if (began > begins[s] + once[s] || once[s] > walls[s]) return false;
  }
  return !steps.empty();
}

/** Every step has `count` replays; that of the draft has its layer, and each lies around the spans of its own
 * layers. */
int replaysAreAround(Run& run, int draft, size_t count) {
  const auto layers = columnOf<int32_t>(run, "spans", "layer");
  const auto stages = columnOf<uint8_t>(run, "spans", "stage");
  const auto steps = columnOf<int32_t>(run, "spans", "step");
  const auto starts = columnOf<int64_t>(run, "spans", "start_ns");
  const auto durations = columnOf<int64_t>(run, "spans", "dur_ns");
  const auto isReplay = [&](size_t i) { return stages[i] == static_cast<uint8_t>(Stage::graphReplay); };
  size_t replays = 0;
  for (size_t r = 0; r < layers.size(); ++r) {
    if (!isReplay(r)) continue;
    ++replays;
    for (size_t i = 0; i < layers.size(); ++i) {
      if (isReplay(i) || steps[i] != steps[r] || (layers[i] == draft) != (layers[r] == draft)) continue;
      if (starts[i] < starts[r] || starts[i] + durations[i] > starts[r] + durations[r]) return 21;
    }
  }
  return replays == count * kSteps ? 0 : 22;
}

/** Reads of peers find what was written for them, in whatever order the ranks come, and lanes are whole.
 * `layers`: those of the draft among them. */
int finishesLayers(Run& run, int rank, int layers) {
  // Two layers, and what the first rank makes to compare them with.
  if (runAll(run) != (rank == 0 ? 4 : 2)) return 1;
  if (readings().wrong != 0 || run.dropped() != 0) return 2;
  const auto starts = columnOf<int64_t>(run, "spans", "start_ns");
  const auto durations = columnOf<int64_t>(run, "spans", "dur_ns");
  const auto enters = columnOf<int64_t>(run, "spans", "enter_ns");
  const auto lasts = columnOf<int64_t>(run, "spans", "last_enter_ns");
  const auto collectives = columnOf<int32_t>(run, "spans", "collective_seq");
  int32_t expected = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (collectives[i] < 0) continue;
    if (collectives[i] != expected++) return 3;
    if (enters[i] != starts[i] || lasts[i] < enters[i] || lasts[i] > starts[i] + durations[i]) return 4;
  }
  if (expected == 0 || expected % (layers * kSteps) != 0) return 5;
  return rank > 0 || layersBeginInTime(run) ? 0 : 8;
}
int finishes(Run& run, int rank) { return finishesLayers(run, rank, kLayers); }

void ranksThatReadEachOtherFindWhatIsForThem() {
  for (const int ranks : {2, 4})
    for (const bool graph : {false, true})
      for (const bool replicated : {false, true}) {
        Config config = configOf(ranks, Comm::p2p);
        config.graph = graph;
        config.replicateQ = replicated;
        config.observer = graph != replicated;
        const auto body = [&](Run& run, int rank) {
          const int code = finishes(run, rank);
          if (code != 0) return code;
          if (readings().merges == 0) return 6;
          return (readings().gathers == 0) == replicated ? 0 : 7;
        };
        EXPECT(Scene(config, body).ends() == std::vector<int>(static_cast<size_t>(ranks), 0));
      }
}

/** A rank that keeps its own partial, or works on stale metadata, still comes to the others. */
void ranksWithFaultsMeetAllTheSame() {
  for (const bool graph : {false, true}) {
    Config config = configOf(3, Comm::p2p);
    config.graph = graph;
    config.faults = {{FaultKind::mergeMissing, 0b010, {0, 2}, {3, 4}, 0, 0},
                     {FaultKind::lseDropped, 0b101, {}, {4}, 0, 0},
                     {FaultKind::staleGraphMetadata, 0b001, {}, {2, 5}, 0, 0}};
    EXPECT(Scene(config, finishes).ends() == std::vector<int>(3, 0));
  }
}

/** Partials of the model's first layer come while slow peers still read those of the draft: with queries that
 * need no gather nothing keeps a rank back until it merges them. */
void aDraftIsExchangedAsWell() {
  for (const int layers : {1, 2, kLayers})
    for (const bool graph : {false, true}) {
      Config config = configOf(3, Comm::p2p);
      config.layers = layers;
      config.captureLayers = {0, layers};
      config.draft = true;
      config.qLen = 2;
      config.replicateQ = true;
      config.graph = graph;
      config.observer = graph;
      const auto body = [=](Run& run, int rank) {
        const int code = finishesLayers(run, rank, layers + 1);
        if (code != 0 || rank > 0) return code;
        const auto proposed = columnOf<int32_t>(run, "steps", "draft_proposed");
        if (proposed != std::vector<int32_t>(kSteps, 2 * 2)) return 9;
        return replaysAreAround(run, layers, graph ? 2 : 0);
      };
      EXPECT(Scene(config, body).ends() == std::vector<int>(3, 0));
    }
}

/** KV heads, and an lse that kernels keep in a way of their own, are other buffers and other work. */
void headsAndLseOfEveryKindAreExchanged() {
  for (const bool graph : {false, true}) {
    Config grouped = configOf(2, Comm::p2p);
    grouped.graph = graph;
    grouped.kvHeads = 2;
    grouped.headDim = 64;
    Config apart = configOf(2, Comm::p2p);
    apart.graph = graph;
    apart.qLen = 2;
    apart.lseLayout = LseLayout::heads;
    apart.lseBf16 = true;
    apart.paddedHeads = 64;
    for (const Config& config : {grouped, apart})
      EXPECT(Scene(config, finishes).ends() == std::vector<int>(2, 0));
  }
}

#ifdef DCPSCOPE_TEST_NCCL

/** What NCCL was asked for in a run, by the library that stands in for it. */
std::string ncclCalls() {
  void* library = dlopen(DCPSCOPE_TEST_NCCL, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<const char* (*)()>(dlsym(library, "testCalls"))();
}

size_t countOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void collectivesOfNcclAreThoseOfTheStages() {
  setenv("DCPSCOPE_NCCL", DCPSCOPE_TEST_NCCL, 1);
  device().gpus = 2;
  for (const Over over : tests::kBoth)
    for (const auto& [agRs, wireFp32] :
         {std::pair(true, false), {true, true}, {false, false}, {false, true}}) {
      Config config = configOf(2, agRs ? Comm::agRs : Comm::a2a);
      config.wireFp32 = wireFp32;
      config.kvType = KvType::bf16;
      const auto body = [&, agRs = agRs, wireFp32 = wireFp32](Run& run, int rank) {
        const int code = finishes(run, rank);
        if (code != 0) return code;
        const std::string calls = ncclCalls();
        // Once to connect, then in the warm-up and in every step.
        constexpr size_t kTimes = 1 + kLayers * (kSteps + 1);
        // Two tokens of two heads, and lse of all four.
        const std::string gathered = "gather " + std::to_string(2 * 2 * 576 * 2) + " of 1";
        if (countOf(calls, gathered) != kTimes) return 10;
        const std::string scattered =
            "scatter " + std::to_string(2 * 2 * 512) + (wireFp32 ? " of 7" : " of 9");
        if (countOf(calls, scattered + " by 0") != (agRs ? kTimes : 0)) return 11;
        if (countOf(calls, "gather " + std::to_string(2 * 4 * 4) + " of 1") != (agRs ? kTimes : 0)) return 12;
        if (countOf(calls, "start; send 0<") != (agRs ? 0 : kTimes)) return 13;
        return calls.rfind(rank == 0 ? "id; init 0/2" : "init 1/2", 0) == 0 ? 0 : 14;
      };
      EXPECT(Scene(config, body, true, over).ends() == std::vector<int>(2, 0));
    }
  device().gpus = 1;
}

#endif

/** What ends a run, as `code: message`; nothing where it finished. */
std::string endOf(Run& run) {
  try {
    static_cast<void>(runAll(run));
  } catch (const EngineError& error) {
    return std::string(name(error.code())) + ": " + error.what();
  }
  return "";
}

/** Every rank ends by the same line. */
void expectRefused(const Config& config, const std::string& line) {
  const auto body = [&](Run& run, int) { return endOf(run) == line ? 0 : 1; };
  EXPECT(Scene(config, body).ends() == std::vector<int>(static_cast<size_t>(config.ranks), 0));
}

void gpusThatCannotExchangeAreRefused() {
#ifdef DCPSCOPE_TEST_NCCL
  expectRefused(
      configOf(3, Comm::agRs),
      "ERR_ENGINE: NCCL needs a GPU for each rank: rank 0 and rank 1 share one; use p2p or fewer ranks");
#endif
  device().gpus = 3;
  device().peersReach = false;
  const auto body = [](Run& run, int) {
    return endOf(run) ==
                   "ERR_ENGINE: p2p needs GPUs that reach each other's memory: GPU 0 (Threads) of rank 0 "
                   "cannot "
                   "reach GPU 1 (Threads) of rank 1; use ag_rs or a2a"
               ? 0
               : 1;
  };
  EXPECT(Scene(configOf(3, Comm::p2p), body, true).ends() == std::vector<int>(3, 0));
  device().peersReach = true;
  device().gpus = 1;
}

/** How the ranks of a run end whose rank 1 is lost. */
enum Lost { finished = 1, absent = 10, abandoned, fault, still, other };

int lostBy(Run& run) {
  const std::string end = endOf(run);
  const auto begins = [&](const char* with) { return end.rfind(with, 0) == 0; };
  if (end.empty()) return finished;
  // A rank whose device has not failed can still say how its clock stood.
  if (!begins("ERR_DEVICE") && run.facts().alignment.empty()) return other;
  if (begins("ERR_ABSENT: rank 1 did not come to ")) return absent;
  if (begins("ERR_ABSENT: the connection of rank 1 to rank 0 broke (")) return absent;
  if (end == "ERR_ABANDONED: another rank has ended the run") return abandoned;
  if (begins("ERR_DEVICE: the GPU failed in decode_attn of rank 1, layer 0, step 3: ")) return fault;
  if (begins("ERR_ENGINE: the GPU of rank 1 stands still in decode_attn of layer ")) return still;
  std::fprintf(stderr, "ended by %s\n", end.c_str());
  return other;
}

/** Of layers; those of the whole step are there as well. */
size_t spansOfStep(Run& run, int step) {
  const auto steps = columnOf<int32_t>(run, "spans", "step");
  const auto layers = columnOf<int32_t>(run, "spans", "layer");
  size_t count = 0;
  for (size_t i = 0; i < steps.size(); ++i) count += steps[i] == step && layers[i] >= 0 ? 1 : 0;
  return count;
}

Config endless(bool graph) {
  Config config = configOf(3, Comm::p2p);
  config.graph = graph;
  config.steps = 20'000;
  config.checkRows = 0;
  config.captureSteps = {};
  return config;
}

/** Rank 1 gets a signal, in runs with and without graphs, of one machine and of several. */
void expectLost(int signal) {
  std::vector<std::unique_ptr<Scene>> scenes;
  const auto begin = [&](const Config& config, Over over) {
    const auto body = [](Run& run, int) { return lostBy(run); };
    scenes.push_back(std::make_unique<Scene>(config, body, over == Over::network, over));
  };
  for (const bool graph : {false, true}) begin(endless(graph), Over::memory);
#ifdef DCPSCOPE_TEST_NCCL
  setenv("DCPSCOPE_NCCL", DCPSCOPE_TEST_NCCL, 1);
  device().gpus = 3;
  for (const bool graph : {false, true}) {
    Config config = endless(graph);
    config.comm = Comm::agRs;
    begin(config, Over::network);
  }
  device().gpus = 1;
#endif
  std::this_thread::sleep_for(std::chrono::seconds(2));
  for (const auto& scene : scenes) ::kill(scene->children[1], signal);
  // What stands still for ever is waited for at last.
  std::thread buries([&] {
    if (signal != SIGSTOP) return;
    std::this_thread::sleep_for(std::chrono::seconds(9));
    for (const auto& scene : scenes) ::kill(scene->children[1], SIGKILL);
  });
  for (const auto& scene : scenes) {
    const std::vector<int> ends = scene->ends();
    EXPECT(ends[0] == absent || ends[2] == absent);
    for (const int end : {ends[0], ends[2]}) EXPECT(end == absent || end == abandoned);
  }
  buries.join();
}

std::vector<int> endsWithFault(const char* fault, bool graph, bool observer) {
  setenv("DCPSCOPE_TEST_FAULT", fault, 1);
  Config config = endless(graph);
  config.observer = observer;
  Scene scene(config, [](Run& run, int) { return lostBy(run); });
  unsetenv("DCPSCOPE_TEST_FAULT");
  return scene.ends();
}

/** With an observer the step runs without tracing first. */
void aDeviceThatFailsEndsAll() {
  for (const bool graph : {false, true})
    for (const bool observer : {false, true})
      EXPECT(endsWithFault("decode_attn:1:3", graph, observer) ==
             (std::vector<int>{abandoned, fault, abandoned}));
  for (const bool observer : {false, true}) {
    const std::vector<int> ends = endsWithFault("decode_attn:1:3:hang", false, observer);
    EXPECT(ends[0] == absent || ends[2] == absent || ends[1] == still);
    for (const int end : ends) EXPECT(end == absent || end == abandoned || end == still);
  }
}

/** One fails behind its last exchange: the others keep all of that step, whatever of it they do before they
 * hear of it. */
void whatIsDoneIsKept() {
  for (const bool graph : {false, true}) {
    Config config = endless(graph);
    config.layers = 1;
    config.captureLayers = {};
    config.restOfLayerBytes = 1 << 20;
    setenv("DCPSCOPE_TEST_FAULT", "rest_of_layer:1:3", 1);
    Scene scene(config, [](Run& run, int rank) {
      const std::string end = endOf(run);
      if (rank == 1)
        return end.rfind("ERR_DEVICE: the GPU failed in rest_of_layer of rank 1", 0) == 0 ? 0 : 1;
      if (end != "ERR_ABANDONED: another rank has ended the run") return 2;
      const size_t whole = spansOfStep(run, 2);
      return whole > 0 && spansOfStep(run, 3) == whole ? 0 : 3;
    });
    unsetenv("DCPSCOPE_TEST_FAULT");
    EXPECT(scene.ends() == std::vector<int>(3, 0));
  }
}

}  // namespace
}  // namespace dcpscope::cuda::host_tests

int main() {
  using namespace dcpscope::cuda::host_tests;
  faultsActOnGpus();
  ranksThatReadEachOtherFindWhatIsForThem();
  ranksWithFaultsMeetAllTheSame();
  headsAndLseOfEveryKindAreExchanged();
  aDraftIsExchangedAsWell();
#ifdef DCPSCOPE_TEST_NCCL
  collectivesOfNcclAreThoseOfTheStages();
#endif
  gpusThatCannotExchangeAreRefused();
  expectLost(SIGKILL);
  expectLost(SIGSTOP);
  aDeviceThatFailsEndsAll();
  whatIsDoneIsKept();
  std::puts("ok");
  return 0;
}
