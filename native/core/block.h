#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/error.h"

namespace dcpscope {

/** Zeroed memory for `count` values of T, aligned to a cache line; throws ERR_MEMORY when there is none. */
template <class T>
class Block {
 public:
  Block() = default;
  explicit Block(int64_t count) : size_(count) {
    if (count == 0) return;
    constexpr size_t kAlign = 4096;
    const size_t bytes = (static_cast<size_t>(count) * sizeof(T) + kAlign - 1) / kAlign * kAlign;
#if defined(__linux__)
    if (bytes >= kWorthMapping) {
      map(bytes);
      return;
    }
#endif
    raw_ = {std::calloc(bytes + kAlign, 1), Release{}};
    if (raw_ == nullptr) refuse(bytes);
    const auto at = reinterpret_cast<uintptr_t>(raw_.get());
    data_ = reinterpret_cast<T*>((at + kAlign - 1) / kAlign * kAlign);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  int64_t size() const { return size_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }

 private:
  struct Release {
    /** Bytes of a mapping, 0 for memory of the heap. */
    size_t mapped = 0;
    void operator()(void* p) const {
#if defined(__linux__)
      if (mapped > 0) {
        static_cast<void>(munmap(p, mapped));
        return;
      }
#endif
      std::free(p);
    }
  };

  [[noreturn]] static void refuse(size_t bytes) {
    throw EngineError(ErrorCode::memory, "the system refused " + std::to_string(bytes) + " bytes");
  }

#if defined(__linux__)
  static constexpr size_t kWorthMapping = size_t{8} << 20;

  /** Large memory comes from the kernel itself: the heap of a Chromium process ends it for blocks of 2 GiB.
   */
  void map(size_t bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) refuse(bytes);
    raw_ = {at, Release{bytes}};
    data_ = static_cast<T*>(at);
    // Only a hint: a kernel without huge pages serves small ones.
    static_cast<void>(madvise(at, bytes, MADV_HUGEPAGE));
  }
#endif

  std::unique_ptr<void, Release> raw_;
  T* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace dcpscope
