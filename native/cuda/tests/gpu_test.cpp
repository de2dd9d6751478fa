#include "cuda/tests/gpu_test.h"

#include <cuda_runtime_api.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace dcpscope::cuda::tests {

std::string format(const char* pattern, ...) {
  char text[512];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

Runner::Runner(std::vector<std::string> filters, bool reduced, bool list, uint32_t seed)
    : filters_(std::move(filters)), reduced_(reduced), list_(list), seed_(seed) {}

bool Runner::wanted(const std::string& name) const {
  for (const std::string& filter : filters_) {
    if (name.find(filter) != std::string::npos) return true;
  }
  return filters_.empty();
}

void Runner::report(const char* verdict, const std::string& name, const std::string& note) const {
  std::printf("%s %s | %s\n", verdict, name.c_str(), note.c_str());
  std::fflush(stdout);
}

void Runner::test(const std::string& name, const std::function<std::string()>& body) {
  if (!wanted(name)) return;
  if (list_) {
    std::printf("%s\n", name.c_str());
    return;
  }
  try {
    const std::string note = body();
    ++passed_;
    report("ok", name, note);
  } catch (const Skip& skip) {
    ++skipped_;
    report("skip", name, skip.what());
  } catch (const std::exception& error) {
    ++failed_;
    report("FAIL", name, error.what());
  }
  const cudaError_t state = cudaDeviceSynchronize();
  if (state != cudaSuccess) {
    std::printf("the device cannot be used after %s: %s\n", name.c_str(), cudaGetErrorString(state));
    std::exit(finish());
  }
  cudaGetLastError();
}

int Runner::finish() const {
  if (list_) return 0;
  if (skipped_ > 0) std::printf("%d skipped\n", skipped_);
  std::printf("%d passed, %d failed\n", passed_, failed_);
  return failed_ > 0 || passed_ == 0 ? 1 : 0;
}

}  // namespace dcpscope::cuda::tests
