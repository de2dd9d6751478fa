#pragma once
#include "cuda/sm90/shared.cuh"

/** Where keys of a request lie in the pool: listed one by one, or found through the page table. */
namespace dcpscope::cuda {

template <int kRowBytes, bool kListed>
class RowFinder {
 public:
  __device__ explicit RowFinder(const KernelArgs& args) : args_(args) {}

  __device__ void begin(const Segment& segment) {
    last_ = segment.length - 1;
    from_ = kListed ? args_.slots + segment.request * args_.slotStride
                    : args_.inputs.pageTable + segment.firstPage;
  }

  __device__ bool has(int key) const { return key <= last_; }

  /** Reads a key's page or slot. `rowOf` turns it into an address once it is there, so that a caller who asks
   * early waits for nothing. Keys behind the last one are given its row, and those of an empty request the
   * first row of the pool: what they hold counts for nothing. */
  __device__ int32_t look(int key) const {
    const int k = min(key, last_);
    return k < 0 ? 0 : from_[kListed ? k : pageOf(k)];
  }

  __device__ const unsigned char* rowOf(int32_t looked, int key) const {
    const int k = max(min(key, last_), 0);
    const int32_t slot = kListed ? looked : (looked - pageOf(k)) * args_.pageSize + k;
    return static_cast<const unsigned char*>(args_.inputs.pool) + static_cast<int64_t>(slot) * kRowBytes;
  }

 private:
  __device__ int pageOf(int key) const {
    return static_cast<int>(__umulhi(2 * static_cast<uint32_t>(key), args_.pageInverse));
  }

  const KernelArgs& args_;
  const int32_t* from_ = nullptr;
  int last_ = 0;
};

/** 2^31 / pageSize rounded up. Twice a key times this over 2^32 is the key's page: always for powers of two,
 * and for other sizes as long as key * pageSize < 2^31. */
inline uint32_t pageInverse(int pageSize) {
  return static_cast<uint32_t>(((int64_t{1} << 31) + pageSize - 1) / pageSize);
}

}  // namespace dcpscope::cuda
