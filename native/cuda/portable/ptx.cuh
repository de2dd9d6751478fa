#pragma once
#include <cstdint>

#include "cuda/words.cuh"

/** Instructions of sm_80 that C++ has no words for. Shared memory addresses are 32 bits. */
namespace dcpscope::cuda::portable {

/** Copies 16 bytes to shared memory in the background; zeros instead, reading nothing, unless `valid`. */
__device__ inline void copyAsync(uint32_t to, const void* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0)
               : "memory");
}

/** Waits for all background copies of this thread. */
__device__ inline void waitCopies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/** Four 8x8 matrices of 16-bit values; lane l gives the row l % 8 of matrix l / 8. */
__device__ inline void loadMatrices(uint32_t (&m)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(row)
               : "memory");
}

/** Two matrices; the rows of lanes 0 to 15 count. */
__device__ inline void loadMatrices(uint32_t (&m)[2], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(m[0]), "=r"(m[1])
               : "r"(row)
               : "memory");
}

/** Four matrices, each transposed. */
__device__ inline void loadTransposed(uint32_t (&m)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(row)
               : "memory");
}

/** sum += a * b: a is 16 x 16, b 16 x 8 (its columns together in memory), bf16; sum 16 x 8 fp32. */
__device__ inline void multiplyAdd(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace dcpscope::cuda::portable
