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
    raw_.reset(std::calloc(bytes + kAlign, 1));
    if (raw_ == nullptr)
      throw EngineError(ErrorCode::memory, "the system refused " + std::to_string(bytes) + " bytes");
    const auto at = reinterpret_cast<uintptr_t>(raw_.get());
    data_ = reinterpret_cast<T*>((at + kAlign - 1) / kAlign * kAlign);
#if defined(__linux__)
    constexpr size_t kWorthHugePages = size_t{8} << 20;
    // Only a hint: a kernel without huge pages serves small ones.
    if (bytes >= kWorthHugePages) static_cast<void>(madvise(data_, bytes, MADV_HUGEPAGE));
#endif
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  int64_t size() const { return size_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> raw_;
  T* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace dcpscope
