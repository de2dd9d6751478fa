#include "cpu/kernels.h"

#include <cstdlib>
#include <cstring>
#include <iterator>

namespace dcpscope {

#define DCPSCOPE_DECLARE(isa)                     \
  namespace isa {                                 \
  extern const GenerateKernels generateKernels;   \
  extern const ReferenceKernels referenceKernels; \
  extern const AttentionKernels attentionKernels; \
  extern const RowKernels rowKernels;             \
  extern const ReadKernels readKernels;           \
  }

#define DCPSCOPE_KERNELS(isa, simd)                                                            \
  Kernels {                                                                                    \
    simd, isa::generateKernels, isa::referenceKernels, isa::attentionKernels, isa::rowKernels, \
        isa::readKernels                                                                       \
  }

DCPSCOPE_DECLARE(generic)
#if defined(__x86_64__)
DCPSCOPE_DECLARE(avx2)
DCPSCOPE_DECLARE(avx512)
DCPSCOPE_DECLARE(avx512_bf16)
#endif

namespace {

Kernels generic() {
#if defined(__aarch64__)
  return DCPSCOPE_KERNELS(generic, "neon");
#else
  return DCPSCOPE_KERNELS(generic, "generic");
#endif
}

#if defined(__x86_64__)
struct Candidate {
  Kernels code;
  bool runs;
};

/** Best first. */
const Candidate* candidates(size_t& count) {
  const bool v4 = __builtin_cpu_supports("x86-64-v4") != 0;
  static const Candidate all[] = {
      {DCPSCOPE_KERNELS(avx512_bf16, "avx512_bf16"), v4 && __builtin_cpu_supports("avx512bf16") != 0},
      {DCPSCOPE_KERNELS(avx512, "avx512"), v4},
      {DCPSCOPE_KERNELS(avx2, "avx2"), __builtin_cpu_supports("x86-64-v3") != 0},
  };
  count = std::size(all);
  return all;
}
#endif

/** The best set that runs here, from the one that DCPSCOPE_SIMD names downwards. */
Kernels choose() {
#if defined(__x86_64__)
  const char* wanted = std::getenv("DCPSCOPE_SIMD");
  size_t count = 0;
  const Candidate* all = candidates(count);
  bool allowed = wanted == nullptr;
  for (size_t i = 0; i < count; ++i) {
    allowed = allowed || std::strcmp(wanted, all[i].code.simd) == 0;
    if (allowed && all[i].runs) return all[i].code;
  }
#endif
  return generic();
}

}  // namespace

const Kernels& kernels() {
  static const Kernels chosen = choose();
  return chosen;
}

}  // namespace dcpscope
