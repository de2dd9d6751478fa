#pragma once

/**
 * Functions that CPU and GPU share: DCPSCOPE_HD marks them for nvcc and is nothing for other compilers.
 * `exact::` is arithmetic that rounds once at each step whatever the compiler's flags on fused multiply-add
 * and fast division say, where both sides must give the same bits.
 */
#if defined(__CUDACC__)
#define DCPSCOPE_HD __host__ __device__
#else
#define DCPSCOPE_HD
#endif

namespace dcpscope::exact {

static inline DCPSCOPE_HD float quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}

static inline DCPSCOPE_HD float product(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

static inline DCPSCOPE_HD double product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

static inline DCPSCOPE_HD float sum(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

static inline DCPSCOPE_HD double sum(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

}  // namespace dcpscope::exact
