#include "cuda/tests/ops_bench.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/bf16.h"

namespace dcpscope::cuda::tests {

void randomTest(Runner& runner, const std::string& name, int times,
                const std::function<void(Random&)>& body) {
  runner.test(name, [&] {
    for (int i = 0; i < times; ++i) {
      Random random(std::hash<std::string>{}(name) ^ (uint64_t{runner.seed()} << 32) ^
                    static_cast<uint64_t>(i));
      try {
        body(random);
      } catch (const Failure& failure) {
        throw Failure(format("seed %u, time %d: ", runner.seed(), i) + failure.what());
      }
    }
    return format("%d random shapes", times);
  });
}

void StampProbe::check() const {
  const std::vector<Stamp> stamps = stamps_.download();
  int stamped = 0;
  for (int i = 0; i < kStamps; ++i) {
    const Stamp& stamp = stamps[static_cast<size_t>(i)];
    if (stamp.begin == 0 && stamp.end == 0) continue;
    ++stamped;
    expect(stamp.begin != 0 && stamp.end >= stamp.begin, format("stamp %d ends before it begins", i));
  }
  expect(stamped > 0, "no block stamped");
  stamps_.checkGuards("stamps");
}

void Values::upload(const std::vector<float>& values) {
  if (fp32_) {
    cudaCheck(cudaMemcpy(get(), values.data(), values.size() * 4, cudaMemcpyHostToDevice), "upload");
    return;
  }
  std::vector<uint16_t> half(values.size());
  std::transform(values.begin(), values.end(), half.begin(), toBf16);
  cudaCheck(cudaMemcpy(get(), half.data(), half.size() * 2, cudaMemcpyHostToDevice), "upload");
}

std::vector<float> Values::download() const {
  std::vector<float> values(static_cast<size_t>(count_));
  if (fp32_) {
    cudaCheck(cudaMemcpy(values.data(), get(), values.size() * 4, cudaMemcpyDeviceToHost), "download");
    return values;
  }
  std::vector<uint16_t> half(values.size());
  cudaCheck(cudaMemcpy(half.data(), get(), half.size() * 2, cudaMemcpyDeviceToHost), "download");
  std::transform(half.begin(), half.end(), values.begin(), fromBf16);
  return values;
}

float rounded(float value, bool fp32) { return fp32 ? value : fromBf16(toBf16(value)); }

void expectSame(const std::vector<float>& got, const std::vector<float>& want, const char* what) {
  expect(got.size() == want.size(), format("%s: %zu values instead of %zu", what, got.size(), want.size()));
  for (size_t i = 0; i < got.size(); ++i) {
    const bool same = std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i];
    expect(same, format("%s: value %zu is %g instead of %g", what, i, static_cast<double>(got[i]),
                        static_cast<double>(want[i])));
  }
}

void expectClose(const std::vector<float>& got, const std::vector<double>& want, double relative,
                 double absolute, const char* what) {
  expect(got.size() == want.size(), format("%s: %zu values instead of %zu", what, got.size(), want.size()));
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - want[i]);
    const bool close =
        std::isnan(want[i]) ? std::isnan(got[i]) : error <= relative * std::abs(want[i]) + absolute;
    expect(close, format("%s: value %zu is %g instead of %g", what, i, static_cast<double>(got[i]), want[i]));
  }
}

double medianMicroseconds(int calls, const std::function<void(cudaStream_t)>& call) {
  constexpr int kRounds = 9;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaEvent_t begin;
  cudaEvent_t end;
  cudaCheck(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  cudaCheck(cudaEventCreate(&begin), "event");
  cudaCheck(cudaEventCreate(&end), "event");
  cudaCheck(cudaDeviceSynchronize(), "inputs");
  cudaCheck(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < calls; ++i) call(stream);
  cudaCheck(cudaStreamEndCapture(stream, &graph), "capture");
  cudaCheck(cudaGraphInstantiate(&executable, graph, 0), "graph");
  std::vector<float> times(kRounds);
  for (float& time : times) {
    cudaCheck(cudaEventRecord(begin, stream), "event");
    cudaCheck(cudaGraphLaunch(executable, stream), "graph launch");
    cudaCheck(cudaEventRecord(end, stream), "event");
    cudaCheck(cudaEventSynchronize(end), "event");
    cudaCheck(cudaEventElapsedTime(&time, begin, end), "event");
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return static_cast<double>(times[kRounds / 2]) * 1e3 / calls;
}

}  // namespace dcpscope::cuda::tests
