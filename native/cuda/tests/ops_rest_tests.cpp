#include <cmath>

#include "cuda/ops/rest_of_layer.h"
#include "cuda/tests/ops_bench.h"
#include "cuda/tests/probe.h"
#include "cuda/tests/suites.h"

namespace dcpscope::cuda::tests {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;
/** Bytes that calls are rounded up to, as they walk through the buffer. */
constexpr int64_t kStripe = int64_t{64} << 10;

RestState stateOf(const DeviceArray<RestState>& device) { return device.download()[0]; }

void walksThroughTheBuffer(Random& random) {
  const int64_t buffer = 16 * kStripe;
  GuardedBytes weights(buffer);
  weights.fill(0);
  DeviceArray<RestState> state(1);
  state.fill(0);
  int64_t at = 0;
  for (int i = 0; i < 12; ++i) {
    const int64_t bytes = random.pick<int64_t>({0, 1, kStripe, kStripe + 1, 5 * kStripe - 16, 40 * kStripe});
    const int64_t flops = random.pick<int64_t>({0, 1, 1000000, 10000000000});
    const StampProbe stamps;
    restOfLayer({weights.data(), buffer, bytes, flops, state.get()}, nullptr, stamps.get());
    at = (at + (bytes + kStripe - 1) / kStripe) % 16;
    const RestState now = stateOf(state);
    expect(static_cast<int64_t>(now.cursor) == at && now.arrived == 0 && now.sink == 0,
           format("after %lld bytes the cursor is %llu instead of %lld, %u arrived, sink %u",
                  static_cast<long long>(bytes), static_cast<unsigned long long>(now.cursor),
                  static_cast<long long>(at), now.arrived, now.sink));
    stamps.check();
  }
  weights.checkGuards("weights");
  state.checkGuards("state");
}

std::string buffersFollowTheBytes() {
  expect(restBufferBytes(0) == 0, "a buffer for nothing");
  expect(restBufferBytes(1) == 512 * kMegabyte, "small ones are larger than the caches");
  expect(restBufferBytes(600 * kMegabyte + 1) == 600 * kMegabyte + kStripe, "others hold the bytes");
  expect(restBufferBytes(int64_t{1} << 40) == 4096 * kMegabyte, "none is above 4 GB");
  return "";
}

std::string refusesASmallBuffer() {
  DeviceArray<RestState> state(1);
  state.fill(0);
  try {
    restOfLayer({state.get(), 0, 1, 0, state.get()}, nullptr, nullptr);
  } catch (const EngineError& error) {
    return error.what();
  }
  throw Failure("not refused");
}

/** Times are a note, never a verdict. */
std::string readsAndMultipliesAtOnce() {
  constexpr int64_t kBytes = 1024 * kMegabyte;
  constexpr int64_t kFlops = 150'000'000'000;
  const int64_t buffer = restBufferBytes(kBytes);
  GuardedBytes weights(buffer);
  weights.fill(1);
  DeviceArray<RestState> state(1);
  state.fill(0);
  const auto time = [&](int64_t bytes, int64_t flops) {
    return medianMicroseconds(10, [&](cudaStream_t stream) {
      restOfLayer({weights.data(), buffer, bytes, flops, state.get()}, stream, nullptr);
    });
  };
  const double reads = time(kBytes, 0);
  const double multiplies = time(0, kFlops);
  const double both = time(kBytes, kFlops);
  return format(
      "1 GiB %.1f us (%.2f TB/s), 150 GFLOP %.1f us (%.0f TFLOP/s), both %.1f us, 4 MB %.1f us, nothing %.1f "
      "us",
      reads, kBytes / reads / 1e6, multiplies, kFlops / multiplies / 1e6, both, time(4 * kMegabyte, 0),
      time(0, 0));
}

std::string probes() {
  const Bandwidth bandwidth = measureBandwidth();
  expect(std::isfinite(bandwidth.read) && bandwidth.read > 1e9, "no read bandwidth");
  expect(std::isfinite(bandwidth.copy) && bandwidth.copy > 1e9, "no copy bandwidth");
  return format("read %.3f TB/s, copy %.3f TB/s", bandwidth.read / 1e12, bandwidth.copy / 1e12);
}

}  // namespace

void opsRestTests(Runner& runner) {
  randomTest(runner, "ops/rest-of-layer/walk", 3, walksThroughTheBuffer);
  runner.test("ops/rest-of-layer/buffer", buffersFollowTheBytes);
  runner.test("ops/rest-of-layer/refuses", refusesASmallBuffer);
  if (runner.reduced()) return;
  runner.test("ops/rest-of-layer/at-once", readsAndMultipliesAtOnce);
  runner.test("ops/probe", probes);
}

}  // namespace dcpscope::cuda::tests
