#include <algorithm>
#include <array>
#include <functional>

#include "cuda/check.h"
#include "cuda/ops/rest_of_layer.h"
#include "cuda/tests/probe.h"

namespace dcpscope::cuda {
namespace {

constexpr int kPasses = 9;
constexpr int64_t kBuffer = int64_t{4} << 30;
constexpr int64_t kGranule = int64_t{2} << 20;

struct Memory {
  explicit Memory(int64_t bytes) {
    cudaCheck(cudaMalloc(&at, static_cast<size_t>(bytes)), "memory of the probe");
  }
  ~Memory() { cudaFree(at); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* at = nullptr;
};

struct Event {
  Event() { cudaCheck(cudaEventCreate(&at), "event of the probe"); }
  ~Event() { cudaEventDestroy(at); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t at = nullptr;
};

struct Stream {
  Stream() { cudaCheck(cudaStreamCreateWithFlags(&at, cudaStreamNonBlocking), "stream of the probe"); }
  ~Stream() { cudaStreamDestroy(at); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t at = nullptr;
};

/** Median seconds of some passes, after one that does not count. */
double medianSeconds(cudaStream_t stream, const std::function<void()>& pass) {
  const Event begin;
  const Event end;
  std::array<float, kPasses> times{};
  pass();
  for (float& milliseconds : times) {
    cudaCheck(cudaEventRecord(begin.at, stream), "probe");
    pass();
    cudaCheck(cudaEventRecord(end.at, stream), "probe");
    cudaCheck(cudaEventSynchronize(end.at), "probe");
    cudaCheck(cudaEventElapsedTime(&milliseconds, begin.at, end.at), "probe");
  }
  std::nth_element(times.begin(), times.begin() + kPasses / 2, times.end());
  return static_cast<double>(times[kPasses / 2]) / 1e3;
}

int64_t bufferBytes() {
  size_t free = 0;
  size_t total = 0;
  cudaCheck(cudaMemGetInfo(&free, &total), "free memory");
  return std::max(std::min(static_cast<int64_t>(free / 2), kBuffer) / kGranule, int64_t{1}) * kGranule;
}

}  // namespace

Bandwidth measureBandwidth() {
  const int64_t bytes = bufferBytes();
  const int64_t half = bytes / 2;
  const Memory buffer(bytes);
  const Memory state(sizeof(RestState));
  const Stream stream;
  cudaCheck(cudaMemsetAsync(buffer.at, 1, static_cast<size_t>(bytes), stream.at), "probe");
  cudaCheck(cudaMemsetAsync(state.at, 0, sizeof(RestState), stream.at), "probe");
  const RestTask task{buffer.at, bytes, bytes, 0, static_cast<RestState*>(state.at)};
  const double read = medianSeconds(stream.at, [&] { restOfLayer(task, stream.at, nullptr); });
  const double copy = medianSeconds(stream.at, [&] {
    cudaCheck(cudaMemcpyAsync(static_cast<char*>(buffer.at) + half, buffer.at, static_cast<size_t>(half),
                              cudaMemcpyDeviceToDevice, stream.at),
              "probe");
  });
  return {static_cast<double>(bytes) / read, 2.0 * static_cast<double>(half) / copy};
}

}  // namespace dcpscope::cuda
