#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "core/error.h"
#include "cuda/check.h"
#include "cuda/run/graphs.h"
#include "cuda/run/group.h"
#include "cuda/run/memory.h"
#include "cuda/tests/suites.h"

namespace dcpscope::cuda::tests {
namespace {

/** The code of what `f` is refused with. */
template <class F>
ErrorCode refusal(F&& f) {
  try {
    f();
  } catch (const EngineError& error) {
    return error.code();
  }
  throw Failure("nothing was refused");
}

/** A launch asks for the last error, whoever made it. */
void expectNoBlame() { expect(cudaPeekAtLastError() == cudaSuccess, "the next launch would be blamed"); }

std::string refusedCalls() {
  constexpr int kNoDevice = 1 << 20;
  expect(
      refusal([] { cudaCheck(cudaSetDevice(kNoDevice), "a device that is not there"); }) == ErrorCode::engine,
      "not ERR_ENGINE");
  expectNoBlame();
  return "";
}

std::string refusedMemory() {
  constexpr int64_t kTooMuch = int64_t{1} << 44;
  expect(refusal([] { const DeviceMemory memory(kTooMuch, "a test"); }) == ErrorCode::memory,
         "not ERR_MEMORY");
  expectNoBlame();
  return "";
}

std::string brokenCapture() {
  const Queue queue;
  const auto enqueue = [] { throw std::runtime_error("in the middle"); };
  try {
    const CapturedGraph graph(queue.stream, enqueue);
    throw Failure("the error of the work was lost");
  } catch (const std::runtime_error& error) {
    expect(std::string(error.what()) == "in the middle", error.what());
  }
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  cudaCheck(cudaStreamIsCapturing(queue.stream, &status), "asking a stream");
  expect(status == cudaStreamCaptureStatusNone, "the stream still captures");
  expectNoBlame();
  return "";
}

}  // namespace

void errorTests(Runner& runner) {
  // compute-sanitizer, for which the small grid is, counts every refusal as an error.
  if (runner.reduced()) return;
  runner.test("errors/calls", refusedCalls);
  runner.test("errors/memory", refusedMemory);
  runner.test("errors/capture", brokenCapture);
}

}  // namespace dcpscope::cuda::tests
