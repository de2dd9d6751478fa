#pragma once
#include <cstdint>

/** What device code of every kernel says in one instruction. */
namespace dcpscope::cuda {

/** Address within shared memory, 32 bits. */
__device__ inline uint32_t sharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/** Two floats as bf16, rounded to nearest even; `low` in the lower half. */
__device__ inline uint32_t packBf16(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

}  // namespace dcpscope::cuda
