#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/tests/suites.h"

namespace {

constexpr const char* kUsage =
    "usage: dcpscope_gpu_tests [--reduced] [--list] [--seed N] [FILTER...]\n"
    "Runs the cases whose name contains one of the filters, such as attention/best/bf16.\n"
    "  --reduced  the small grid, for compute-sanitizer\n"
    "  --list     prints the names only\n"
    "  --seed N   other random data\n";

}  // namespace

int main(int argc, char** argv) {
  bool reduced = false;
  bool list = false;
  uint32_t seed = 1;
  std::vector<std::string> filters;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--reduced") == 0) {
      reduced = true;
    } else if (std::strcmp(argv[i], "--list") == 0) {
      list = true;
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = static_cast<uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    } else if (argv[i][0] == '-') {
      std::fputs(kUsage, stderr);
      return 2;
    } else {
      filters.emplace_back(argv[i]);
    }
  }
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  if (!list && (found != cudaSuccess || devices == 0)) {
    std::printf("no GPU: %s\n", found == cudaSuccess ? "no device" : cudaGetErrorString(found));
    return 3;
  }
  dcpscope::cuda::tests::Runner runner(filters, reduced, list, seed);
  dcpscope::cuda::tests::referenceTests(runner);
  dcpscope::cuda::tests::attentionTests(runner);
  dcpscope::cuda::tests::opsInputTests(runner);
  dcpscope::cuda::tests::opsCacheTests(runner);
  dcpscope::cuda::tests::opsNeutralizeTests(runner);
  dcpscope::cuda::tests::opsTransportTests(runner);
  dcpscope::cuda::tests::opsGatherTests(runner);
  dcpscope::cuda::tests::opsRestTests(runner);
  dcpscope::cuda::tests::opsFaultTests(runner);
  dcpscope::cuda::tests::errorTests(runner);
  dcpscope::cuda::tests::opsTimeTests(runner);
  return runner.finish();
}
