#pragma once
#include <cuda.h>

#include <cstdint>

#include "cuda/words.cuh"

/** Barriers in shared memory and bulk copies into it (sm_90). Addresses are 32-bit shared-memory ones. */
namespace dcpscope::cuda {

__device__ inline void barrierInit(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

/** Makes initialised barriers visible to the copy engine. */
__device__ inline void barrierInitDone() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void barrierArrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/** Arrives, and makes the phase wait for `bytes` of bulk copies. */
__device__ inline void barrierExpect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/** Waits for the end of the phase with this parity. */
__device__ inline void barrierWait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/** Shared memory written by ordinary stores becomes visible to matrix units and copy engine. */
__device__ inline void fenceAsyncProxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/** The same for ordinary stores to any memory. */
__device__ inline void fenceAsyncProxyEverywhere() { asm volatile("fence.proxy.async;" ::: "memory"); }

__device__ inline void prefetchMap(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/** L2 policies of bulk copies, as createpolicy encodes them. */
constexpr uint64_t kEvictFirst = 0x12F0000000000000;
constexpr uint64_t kEvictLast = 0x14F0000000000000;

/** One box of a two-dimensional tensor map, at (column, row); what lies outside the tensor becomes zero. */
__device__ inline void copyBox(uint32_t to, const CUtensorMap* map, int column, int row, uint32_t barrier,
                               uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier), "l"(policy)
      : "memory");
}

/** A contiguous piece of global memory, a multiple of 16 bytes. */
__device__ inline void copyBytes(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

/** Lets the next kernel of the stream get ready beside this one, and waits for the end of the one before. */
__device__ inline void allowNext() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ inline void awaitPrevious() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/** Barrier of `threads` threads among those that name `id`. */
__device__ inline void namedSync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

template <int kRegisters>
__device__ inline void moreRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ inline void fewerRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace dcpscope::cuda
