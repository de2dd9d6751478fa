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

/** Where a kernel stamps: nowhere, or kStamps of its own; and how it announces itself, which it may also do
 * when it does not stamp. */
struct Stamps {
  Stamps(Stamp* of = nullptr, uint32_t* announced = nullptr, uint32_t as = 0)
      : first(of), word(announced), name(as) {}

  Stamp* first;
  /** Null, or what the host sees as well: the first block writes `name` there when it begins. After a fault
   * nothing else can be read, and this names the kernel. */
  uint32_t* word;
  uint32_t name;
};

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

/** By one thread of block 0, before the kernel's work. */
__device__ inline void announce(const Stamps& stamps) {
  if (stamps.word != nullptr) *const_cast<volatile uint32_t*>(stamps.word) = stamps.name;
}

#endif

}  // namespace dcpscope::cuda
