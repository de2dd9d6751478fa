#pragma once
#include <cstdint>

/** Rows of keys, 16 bytes at a time; addresses in shared memory are 32-bit shared-memory ones. */
namespace dcpscope::cuda {

/** Loads past the L1, which holds nothing of a pool that is read once. */
__device__ inline uint4 load16(const unsigned char* from) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}

__device__ inline float load4(const unsigned char* from) {
  float v;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(from) : "memory");
  return v;
}

/** Brings `bytes`, a multiple of 16, to the L2. */
__device__ inline void prefetchBytes(const unsigned char* from, int bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

/** Enqueues a copy of 16 bytes into shared memory. */
__device__ inline void copy16(uint32_t to, const unsigned char* from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ inline void copiesCommit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ inline void copiesWait() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

/** Arrives at a barrier once all copies that the thread has enqueued are there. */
__device__ inline void barrierArriveAfterCopies(uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

/** Address of 16 bytes of a box: chunk `chunk` of row `row`. */
__device__ inline uint32_t chunkAt(uint32_t box, int row, int chunk) {
  return box + row * 128 + ((chunk ^ (row & 7)) << 4);
}

__device__ inline void write16(uint32_t to, uint2 a, uint2 b) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y)
               : "memory");
}

}  // namespace dcpscope::cuda
