#pragma once
#include <cstdint>

/** Rows of keys in shared memory, 16 bytes at a time; addresses are 32-bit shared-memory ones. */
namespace dcpscope::cuda {

/** Copies 16 bytes, or writes zeros where there is no row. */
__device__ inline void copy16(uint32_t to, const unsigned char* from, bool some) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(some ? 16 : 0)
               : "memory");
}

/** Address of 16 bytes of a box: chunk `chunk` of row `row`. */
__device__ inline uint32_t chunkAt(uint32_t box, int row, int chunk) {
  return box + row * 128 + ((chunk ^ (row & 7)) << 4);
}

__device__ inline uint4 read16(uint32_t from) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(from));
  return v;
}

__device__ inline float readFloat(uint32_t from) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(from));
  return v;
}

__device__ inline void write16(uint32_t to, uint2 a, uint2 b) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y)
               : "memory");
}

}  // namespace dcpscope::cuda
