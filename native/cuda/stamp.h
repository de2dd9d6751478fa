#pragma once
#include <cstdint>

namespace dcpscope::cuda {

/** %globaltimer at which a block began and ended, nanoseconds of the device's clock; 0 where it did not run.
 */
struct Stamp {
  uint64_t begin;
  uint64_t end;
};

/** Blocks of a kernel that stamp: the first, the last, and some between. A span is the hull of its stamps. */
constexpr int kStamps = 8;
/**
 * Stamps that a kernel is given: behind those of its blocks lies one that announces it. There `begin` is the
 * device address of a 64-bit word that the host sees, or 0, and `end` is what the first block writes to it
 * when it begins: after a fault nothing else can be read, and the word names the kernel.
 */
constexpr int kStampSlots = kStamps + 1;

#ifdef __CUDACC__

__device__ inline uint64_t globalTime() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/** Index of the stamp of block `block` of `blocks`, -1 for blocks that do not stamp. */
__device__ inline int stampOf(int block, int blocks) {
  if (blocks <= kStamps) return block;
  const int slot = (block * (kStamps - 1) + blocks - 2) / (blocks - 1);
  return slot * (blocks - 1) / (kStamps - 1) == block ? slot : -1;
}

/** By one thread of block 0, before the kernel's work. `stamps` has kStampSlots. */
__device__ inline void announce(const Stamp* stamps) {
  auto* word = reinterpret_cast<volatile uint64_t*>(stamps[kStamps].begin);
  if (word != nullptr) *word = stamps[kStamps].end;
}

#endif

}  // namespace dcpscope::cuda
