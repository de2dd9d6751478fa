#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cuda/attention.h"
#include "cuda/check.h"
#include "cuda/tests/bench_ceilings.h"
#include "cuda/tests/probe.h"
#include "cuda/tests/random_data.h"

/**
 * Times attention and combine over the shapes of test/bench/h200-best.json, one JSON line each: graph replays
 * over sets of pages that are together larger than four times the L2, median.
 *
 *   dcpscope_gpu_bench [--kv bf16|fp8|fp8_ds_mla] [--heads N] [--q-len N] [--requests N] [--context N]
 * [--portable]
 */
namespace dcpscope::cuda::bench {
namespace {

constexpr int kPage = 64;
constexpr int64_t kSetBytes = int64_t{280} << 20;
constexpr int kReplays = 15;

struct Wanted {
  std::string kv;
  int heads = 0;
  int qLen = 0;
  int requests = 0;
  int context = 0;
  bool portable = false;
};

struct Memory {
  explicit Memory(int64_t bytes) {
    cudaCheck(cudaMalloc(&data, static_cast<size_t>(bytes)), "device memory");
  }
  ~Memory() { cudaFree(data); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  template <class T>
  T* as() {
    return static_cast<T*>(data);
  }
  template <class T>
  void fill(const std::vector<T>& from) {
    cudaCheck(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  void* data = nullptr;
};

const char* nameOf(KvType kv) {
  return kv == KvType::bf16 ? "bf16" : kv == KvType::fp8 ? "fp8" : "fp8_ds_mla";
}

/** Fills a pool with random keys: some are made, the others are copies. */
void fillPool(Memory& pool, KvType kv, int64_t pages) {
  const int64_t rowBytes = tests::poolRowBytes(kv, 576);
  const int64_t pageBytes = kPage * rowBytes;
  int64_t made = std::min<int64_t>(pages, 256);
  std::vector<int32_t> ids(static_cast<size_t>(made));
  std::iota(ids.begin(), ids.end(), 0);
  Memory table(made * 4);
  table.fill(ids);
  tests::fillKeys({pool.data, rowBytes, 0, table.as<int32_t>(), kPage, kv, 512, 64, 0.01F, false, 5, 0},
                  made * kPage);
  for (int64_t count = 0; made < pages; made += count) {
    count = std::min(made, pages - made);
    cudaCheck(cudaMemcpy(pool.as<unsigned char>() + made * pageBytes, pool.data,
                         static_cast<size_t>(count * pageBytes), cudaMemcpyDeviceToDevice),
              "copy");
  }
}

void measure(KvType kv, int heads, int qLen, int requests, int context, bool portable) {
  const AttentionShape shape{requests, qLen, heads, 576, 512, kv, kPage, 0, false};
  const std::unique_ptr<Attention> attention =
      portable ? Attention::createPortable(shape) : Attention::create(shape);
  const int64_t rowBytes = tests::poolRowBytes(kv, 576);
  const int64_t pagesOfSet = static_cast<int64_t>(requests) * ((context + kPage - 1) / kPage);
  const int64_t setBytes = pagesOfSet * kPage * rowBytes;
  const auto sets = static_cast<int>(std::clamp<int64_t>(kSetBytes / setBytes + 1, 2, 64));
  const int64_t pages = pagesOfSet * sets;
  Memory pool(pages * kPage * rowBytes);
  std::vector<int32_t> ids(static_cast<size_t>(pages));
  std::iota(ids.begin(), ids.end(), 0);
  std::shuffle(ids.begin(), ids.end(), std::mt19937(7));
  Memory table(pages * 4);
  table.fill(ids);
  fillPool(pool, kv, pages);
  const int64_t tokens = static_cast<int64_t>(requests) * qLen;
  const int64_t rows = tokens * heads;
  Memory q(rows * 576 * 2);
  tests::fillQueries(q.data, rows, 576, false, 9);
  Memory out(rows * 512 * 2);
  Memory lse(rows * 4);
  Memory lengths(requests * 4);
  lengths.fill(std::vector<int32_t>(static_cast<size_t>(requests), context));
  Memory bounds(tokens * 4);
  std::vector<int32_t> seen;
  for (int r = 0; r < requests; ++r)
    for (int i = 0; i < qLen; ++i) seen.push_back(context - (qLen - 1) + i);
  bounds.fill(seen);
  Memory begins((requests + 1) * 8);
  std::vector<int64_t> begin;
  for (int r = 0; r <= requests; ++r) begin.push_back(pagesOfSet / requests * r);
  begins.fill(begin);
  Memory workspace(attention->workspaceBytes());
  cudaCheck(cudaMemset(workspace.data, 0, static_cast<size_t>(attention->workspaceBytes())), "memset");
  cudaStream_t stream;
  cudaCheck(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  AttentionInputs inputs{};
  inputs.q = q.data;
  inputs.pool = pool.data;
  inputs.poolPages = pages;
  inputs.kvScale = kv == KvType::fp8 ? 0.01F : 1.0F;
  inputs.tableBegin = begins.as<int64_t>();
  inputs.lengths = lengths.as<int32_t>();
  inputs.bounds = bounds.as<int32_t>();
  inputs.softmaxScale = 0.0722F;
  inputs.out = out.data;
  inputs.lse = lse.as<float>();
  attention->plan(workspace.data, inputs.lengths, stream);
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  cudaCheck(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int s = 0; s < sets; ++s) {
    inputs.pageTable = table.as<int32_t>() + s * pagesOfSet;
    attention->run(workspace.data, inputs, stream);
  }
  cudaCheck(cudaStreamEndCapture(stream, &graph), "capture");
  cudaCheck(cudaGraphInstantiate(&replay, graph, 0), "graph");
  cudaEvent_t from;
  cudaEvent_t to;
  cudaCheck(cudaEventCreate(&from), "event");
  cudaCheck(cudaEventCreate(&to), "event");
  std::vector<float> times;
  for (int i = 0; i < kReplays + 2; ++i) {
    cudaCheck(cudaEventRecord(from, stream), "event");
    cudaCheck(cudaGraphLaunch(replay, stream), "graph");
    cudaCheck(cudaEventRecord(to, stream), "event");
    cudaCheck(cudaEventSynchronize(to), "replay");
    float ms = 0;
    cudaCheck(cudaEventElapsedTime(&ms, from, to), "event");
    if (i >= 2) times.push_back(ms * 1000 / static_cast<float>(sets));
  }
  Memory stamps(2 * kStamps * static_cast<int64_t>(sizeof(Stamp)));
  cudaCheck(cudaMemset(stamps.data, 0, 2 * kStamps * sizeof(Stamp)), "memset");
  inputs.attendStamps = stamps.as<Stamp>();
  inputs.combineStamps = stamps.as<Stamp>() + kStamps;
  attention->run(workspace.data, inputs, stream);
  cudaCheck(cudaStreamSynchronize(stream), "stamped run");
  std::vector<Stamp> stamped(2 * kStamps);
  cudaCheck(cudaMemcpy(stamped.data(), stamps.data, 2 * kStamps * sizeof(Stamp), cudaMemcpyDeviceToHost),
            "copy");
  const auto hull = [&](int first) {
    uint64_t begin = UINT64_MAX;
    uint64_t end = 0;
    for (int i = first; i < first + kStamps; ++i) {
      if (stamped[static_cast<size_t>(i)].end == 0) continue;
      begin = std::min(begin, stamped[static_cast<size_t>(i)].begin);
      end = std::max(end, stamped[static_cast<size_t>(i)].end);
    }
    return end == 0 ? 0.0 : static_cast<double>(end - begin) * 1e-3;
  };
  std::sort(times.begin(), times.end());
  const double us = times[times.size() / 2];
  const double keys = static_cast<double>(requests) * context;
  std::printf(
      "{\"kv\":\"%s\",\"heads\":%d,\"qLen\":%d,\"requests\":%d,\"context\":%d,\"us\":%.2f,\"leastUs\":%.2f,"
      "\"tflops\":%.1f,"
      "\"gbs\":%.0f,\"attendUs\":%.2f,\"combineUs\":%.2f,\"kernel\":\"%s\"}\n",
      nameOf(kv), heads, qLen, requests, context, us, times.front(),
      2 * 1088.0 * heads * qLen * keys / us * 1e-6,
      (keys * static_cast<double>(rowBytes) + static_cast<double>(rows) * 1088 * 2) / us * 1e-3, hull(0),
      hull(kStamps), attention->name());
  std::fflush(stdout);
  cudaCheck(cudaGraphExecDestroy(replay), "graph");
  cudaCheck(cudaGraphDestroy(graph), "graph");
  cudaCheck(cudaEventDestroy(from), "event");
  cudaCheck(cudaEventDestroy(to), "event");
  cudaCheck(cudaStreamDestroy(stream), "stream");
}

void ceilings() {
  const Bandwidth bandwidth = measureBandwidth();
  std::printf(
      "{\"ceilings\":{\"readBandwidth\":%.4g,\"copyBandwidth\":%.4g,\"cublasRate\":%.4g,\"matrixUnitRate\":%."
      "4g}}\n",
      bandwidth.read, bandwidth.copy, cublasRate(), matrixUnitRate());
  std::fflush(stdout);
}

bool matches(int wanted, int value) { return wanted == 0 || wanted == value; }

void measureAll(const Wanted& wanted) {
  for (const KvType kv : {KvType::bf16, KvType::fp8DsMla, KvType::fp8})
    for (const int heads : {16, 64, 128})
      for (const int qLen : {1, 2})
        for (const int requests : {1, 16, 64, 128})
          for (const int context : {4096, 32768}) {
            if (!wanted.kv.empty() && wanted.kv != nameOf(kv)) continue;
            if (kv == KvType::fp8 && wanted.kv.empty()) continue;
            if (kv == KvType::fp8DsMla && heads == 16 && wanted.heads != 16) continue;
            if (matches(wanted.heads, heads) && matches(wanted.qLen, qLen) &&
                matches(wanted.requests, requests) && matches(wanted.context, context))
              measure(kv, heads, qLen, requests, context, wanted.portable);
          }
}

Wanted wantedBy(int count, char** arguments) {
  Wanted wanted;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--portable") {
      wanted.portable = true;
      continue;
    }
    if (i + 1 == count) throw EngineError(ErrorCode::config, name + ": needs a value");
    const char* value = arguments[++i];
    if (name == "--kv")
      wanted.kv = value;
    else if (name == "--heads")
      wanted.heads = std::atoi(value);
    else if (name == "--q-len")
      wanted.qLen = std::atoi(value);
    else if (name == "--requests")
      wanted.requests = std::atoi(value);
    else if (name == "--context")
      wanted.context = std::atoi(value);
    else
      throw EngineError(ErrorCode::config, name + ": is not an option");
  }
  return wanted;
}

}  // namespace
}  // namespace dcpscope::cuda::bench

int main(int count, char** arguments) {
  using namespace dcpscope::cuda;
  try {
    const bench::Wanted wanted = bench::wantedBy(count, arguments);
    // At both ends, since clocks move with what ran before.
    bench::ceilings();
    bench::measureAll(wanted);
    bench::ceilings();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dcpscope_gpu_bench: %s\n", error.what());
    return 3;
  }
}
