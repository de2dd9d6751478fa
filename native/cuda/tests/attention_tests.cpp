#include <algorithm>
#include <vector>

#include "cuda/portable/work.h"
#include "cuda/tests/attention_cases.h"
#include "cuda/tests/attention_check.h"
#include "cuda/tests/suites.h"

namespace dcpscope::cuda::tests {
namespace {

struct Implementation {
  const char* name;
  CreateAttention create;
};

/** What `create` gives, unless that is what `portable` tests anyway. */
std::unique_ptr<Attention> bestKernel(const AttentionShape& shape) {
  std::unique_ptr<Attention> best = Attention::create(shape);
  if (std::string(best->name()) == "portable")
    throw Skip("the portable kernel is the best one for this shape");
  return best;
}

std::string compare(const AttentionCase& made, CreateAttention create) {
  const AttentionProblem problem(made);
  AttentionBench bench(problem, create);
  // What was left unwritten must not pass for an expected NaN.
  if (made.hasNan()) bench.poison(0x7f);
  bench.enqueue(nullptr);
  const std::string note = bench.check();
  bench.checkStamps();
  bench.checkRepeats();
  return note;
}

/** Lengths in other proportions than `lengths`, none longer. */
std::vector<int64_t> shorter(const std::vector<int64_t>& lengths, int64_t divisor) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < lengths.size(); ++i) {
    result.push_back(i % 2 == 0 ? lengths[i] / divisor : lengths[i] - std::min<int64_t>(lengths[i], 1));
  }
  return result;
}

AttentionCase mixedCase(KvType kv, int heads, bool reduced) {
  AttentionCase made;
  made.kv = kv;
  made.heads = heads;
  made.qLen = 2;
  made.lengths = borderLengths(reduced);
  if (!reduced) made.lengths.push_back(30000);
  return made;
}

/** Plans for other lengths on the same workspace in between. */
std::string planAgain(const AttentionCase& made, CreateAttention create, bool reduced) {
  AttentionProblem problem(made);
  AttentionBench bench(problem, create);
  std::string note;
  const std::vector<int64_t> divisors =
      reduced ? std::vector<int64_t>{1, 50, 1} : std::vector<int64_t>{1, 3, 1, 50, 1};
  for (const int64_t divisor : divisors) {
    problem.setLengths(divisor == 1 ? made.lengths : shorter(made.lengths, divisor));
    bench.poison(divisor == 3 ? 0x7f : 0xff);
    bench.enqueue(nullptr);
    note = bench.check();
  }
  return note;
}

struct Stream {
  Stream() { cudaCheck(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "stream"); }
  ~Stream() { cudaStreamDestroy(handle); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t handle = nullptr;
};

/** Captures plan and run once and replays them for other lengths. */
std::string replay(const AttentionCase& made, CreateAttention create) {
  AttentionProblem problem(made);
  AttentionBench bench(problem, create);
  const Stream stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaCheck(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal), "capture");
  bench.enqueue(stream.handle);
  cudaCheck(cudaStreamEndCapture(stream.handle, &graph), "capture");
  cudaCheck(cudaGraphInstantiate(&executable, graph, 0), "graph");
  std::string note;
  for (const int64_t divisor : {1, 4, 30, 1}) {
    problem.setLengths(divisor == 1 ? made.lengths : shorter(made.lengths, divisor));
    bench.poison(0xff);
    cudaCheck(cudaDeviceSynchronize(), "inputs");
    cudaCheck(cudaGraphLaunch(executable, stream.handle), "graph launch");
    note = bench.check();
  }
  cudaCheck(cudaGraphExecDestroy(executable), "graph");
  cudaCheck(cudaGraphDestroy(graph), "graph");
  return note;
}

std::string refuse(AttentionShape shape, CreateAttention create, const char* field) {
  try {
    create(shape);
  } catch (const EngineError& error) {
    expect(error.code() == ErrorCode::config, format("refused with %s", name(error.code())));
    expect(std::string(error.what()).find(field) != std::string::npos,
           format("the message does not name %s: %s", field, error.what()));
    return error.what();
  }
  throw Failure("not refused");
}

void refusals(Runner& runner, const std::string& prefix, CreateAttention create) {
  const AttentionShape valid{.requests = 1,
                             .qLen = 1,
                             .heads = 16,
                             .keyDim = 576,
                             .valueDim = 512,
                             .kvType = KvType::bf16,
                             .pageSize = 64,
                             .topk = 0,
                             .outFp32 = false};
  AttentionShape fp32 = valid;
  fp32.kvType = KvType::fp32;
  runner.test(prefix + "refuses/fp32", [=] { return refuse(fp32, create, "kvDtype"); });
  AttentionShape latent = valid;
  latent.keyDim = 584;
  latent.valueDim = 520;
  runner.test(prefix + "refuses/latent520", [=] { return refuse(latent, create, "kvLoraRank"); });
  AttentionShape rope = valid;
  rope.keyDim = 512 + 24;
  runner.test(prefix + "refuses/rope24", [=] { return refuse(rope, create, "ropeDim"); });
}

AttentionCase withKvHeads(AttentionCase made, int kvHeads) {
  made.kvHeads = kvHeads;
  made.latent = 128;
  made.rope = 0;
  return made;
}

void groupedRefusals(Runner& runner, const std::string& prefix) {
  const AttentionShape valid{.requests = 1,
                             .qLen = 1,
                             .heads = 16,
                             .keyDim = 128,
                             .valueDim = 128,
                             .kvType = KvType::bf16,
                             .pageSize = 64,
                             .topk = 0,
                             .outFp32 = false,
                             .kvHeads = 4};
  const auto test = [&](const char* name, const char* field, auto&& change) {
    AttentionShape shape = valid;
    change(shape);
    runner.test(prefix + "refuses/" + name, [=] { return refuse(shape, Attention::create, field); });
  };
  test("kv3", "kvHeads", [](AttentionShape& s) { s.kvHeads = 3; });
  test("d520", "headDim", [](AttentionShape& s) { s.keyDim = s.valueDim = 528; });
  test("values64", "headDim", [](AttentionShape& s) { s.valueDim = 64; });
  test("sparse", "topk", [](AttentionShape& s) { s.topk = 16; });
}

/** What the portable kernel does with KV heads: only it can. */
void groupedTests(Runner& runner) {
  const std::string prefix = "attention/grouped/";
  const CreateAttention create = Attention::create;
  for (const NamedCase& named : groupedGrid(runner.reduced(), runner.seed()))
    runner.test(prefix + named.name, [&] { return compare(named.made, create); });
  for (const KvType kv : {KvType::bf16, KvType::fp8}) {
    for (const int heads : {8, 64}) {
      const AttentionCase made = withKvHeads(mixedCase(kv, heads, runner.reduced()), 4);
      runner.test(prefix + nameOf(kv) + format("/plan-again/h%d", heads),
                  [&] { return planAgain(made, create, runner.reduced()); });
      if (runner.reduced()) continue;
      runner.test(prefix + nameOf(kv) + format("/graph/h%d", heads), [&] { return replay(made, create); });
    }
  }
  groupedRefusals(runner, prefix);
}

/** The sums of the portable kernel have to stay in registers; a little else may not. */
std::string registers(KvType kv, int heads, int kvHeads) {
  const AttentionShape shape{.requests = 1,
                             .qLen = 1,
                             .heads = heads,
                             .keyDim = kvHeads > 0 ? 128 : 576,
                             .valueDim = kvHeads > 0 ? 128 : 512,
                             .kvType = kv,
                             .pageSize = 64,
                             .topk = 0,
                             .outFp32 = false,
                             .kvHeads = kvHeads};
  cudaFuncAttributes attributes;
  cudaCheck(cudaFuncGetAttributes(&attributes, portable::attendKernel(shape).function), "attributes");
  expect(attributes.localSizeBytes <= 64,
         format("%zu bytes of a thread lie in memory", attributes.localSizeBytes));
  return format("%d registers, %zu bytes in memory", attributes.numRegs, attributes.localSizeBytes);
}

void implementationTests(Runner& runner, const Implementation& implementation) {
  const std::string prefix = std::string("attention/") + implementation.name + "/";
  const CreateAttention create = implementation.create;
  for (const NamedCase& named : attentionGrid(runner.reduced(), runner.seed())) {
    runner.test(prefix + named.name, [&] { return compare(named.made, create); });
  }
  for (const KvType kv : {KvType::bf16, KvType::fp8, KvType::fp8DsMla}) {
    for (const int heads : {16, 128}) {
      const AttentionCase made = mixedCase(kv, heads, runner.reduced());
      const std::string shape = prefix + nameOf(kv) + format("/%s/h%d", "plan-again", heads);
      runner.test(shape, [&] { return planAgain(made, create, runner.reduced()); });
      if (runner.reduced()) continue;
      runner.test(prefix + nameOf(kv) + format("/graph/h%d", heads), [&] { return replay(made, create); });
    }
  }
  refusals(runner, prefix, create);
}

}  // namespace

void attentionTests(Runner& runner) {
  implementationTests(runner, {"best", bestKernel});
  implementationTests(runner, {"portable", Attention::createPortable});
  groupedTests(runner);
  for (const KvType kv : {KvType::bf16, KvType::fp8, KvType::fp8DsMla}) {
    for (const int heads : {16, 128}) {
      runner.test(std::string("attention/portable/") + nameOf(kv) + format("/registers/h%d", heads),
                  [=] { return registers(kv, heads, 0); });
      if (kv == KvType::fp8DsMla) continue;
      runner.test(std::string("attention/grouped/") + nameOf(kv) + format("/registers/h%d", heads),
                  [=] { return registers(kv, heads, 2); });
    }
  }
}

}  // namespace dcpscope::cuda::tests
