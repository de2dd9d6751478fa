#include "cpu/kernels.h"

#include <cstdlib>
#include <cstring>

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
#endif

namespace {

Kernels generic() {
#if defined(__aarch64__)
  return DCPSCOPE_KERNELS(generic, "neon");
#else
  return DCPSCOPE_KERNELS(generic, "generic");
#endif
}

Kernels choose() {
#if defined(__x86_64__)
  const char* wanted = std::getenv("DCPSCOPE_SIMD");
  const auto allowed = [wanted](const char* simd) {
    return wanted == nullptr || std::strcmp(wanted, simd) == 0;
  };
  if (allowed("avx512") && __builtin_cpu_supports("x86-64-v4")) return DCPSCOPE_KERNELS(avx512, "avx512");
  if ((allowed("avx512") || allowed("avx2")) && __builtin_cpu_supports("x86-64-v3"))
    return DCPSCOPE_KERNELS(avx2, "avx2");
#endif
  return generic();
}

}  // namespace

const Kernels& kernels() {
  static const Kernels chosen = choose();
  return chosen;
}

}  // namespace dcpscope
