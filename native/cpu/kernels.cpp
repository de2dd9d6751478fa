#include "cpu/kernels.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace dcpscope {

#define DCPSCOPE_DECLARE(isa)                     \
  namespace isa {                                 \
  extern const GenerateKernels generateKernels;   \
  extern const QuantiseKernels quantiseKernels;   \
  extern const ReferenceKernels referenceKernels; \
  extern const AttendKernels attendKernels;       \
  extern const AttentionKernels attentionKernels; \
  extern const RowKernels rowKernels;             \
  extern const ReadKernels readKernels;           \
  }

#define DCPSCOPE_KERNELS(isa, simd)                                                              \
  Kernels {                                                                                      \
    simd, isa::generateKernels, isa::quantiseKernels, isa::referenceKernels, isa::attendKernels, \
        isa::attentionKernels, isa::rowKernels, isa::readKernels                                 \
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
  /** The CPU has the instructions. */
  bool runs;
  /** It is worth choosing unless another is named. */
  bool preferred;
};

/** What DCPSCOPE_SIMD names; null where it is not set, or names nothing that there is. */
const char* wantedSimd() {
  const char* wanted = std::getenv("DCPSCOPE_SIMD");
  if (wanted == nullptr) return nullptr;
  for (const char* known : {"generic", "avx2", "avx512", "avx512_bf16"})
    if (std::strcmp(wanted, known) == 0) return wanted;
  return nullptr;
}

/**
 * The best set that runs here, from the one that DCPSCOPE_SIMD names downwards. Bf16 products are left to
 * AMD, where they run at twice the rate of fp32; on the Xeons that were measured the fp32 code is 1.4 times
 * faster.
 */
Kernels choose() {
  const bool v4 = __builtin_cpu_supports("x86-64-v4") != 0;
  const bool amd = __builtin_cpu_is("amd") != 0;
  const Candidate candidates[] = {
      {DCPSCOPE_KERNELS(avx512_bf16, "avx512_bf16"), v4 && __builtin_cpu_supports("avx512bf16") != 0, amd},
      {DCPSCOPE_KERNELS(avx512, "avx512"), v4, true},
      {DCPSCOPE_KERNELS(avx2, "avx2"), __builtin_cpu_supports("x86-64-v3") != 0, true},
  };
  const char* wanted = wantedSimd();
  bool named = false;
  for (const Candidate& candidate : candidates) {
    named = named || (wanted != nullptr && std::strcmp(wanted, candidate.code.simd) == 0);
    if (candidate.runs && (named || (wanted == nullptr && candidate.preferred))) return candidate.code;
  }
  return generic();
}
#else
Kernels choose() { return generic(); }
#endif

}  // namespace

const Kernels& kernels() {
  static const Kernels chosen = choose();
  return chosen;
}

}  // namespace dcpscope
