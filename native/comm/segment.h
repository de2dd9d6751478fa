#pragma once
#include <cstdint>
#include <string>

namespace dcpscope {

/**
 * Memory that processes of one machine share, zeroed, all of it there from the beginning. The name is only
 * needed until all have opened it; the memory goes with the last process, however that ends.
 */
class Segment {
 public:
  /** Makes it; ERR_MEMORY with the numbers when the system's shared memory does not suffice. */
  static Segment create(const std::string& name, int64_t bytes);
  /** Opens what another process has made; ERR_ENGINE when it is not there or of another size. */
  static Segment open(const std::string& name, int64_t bytes);
  /** Zeroed memory of this process alone. */
  static Segment alone(int64_t bytes);
  /** Takes the name away; nothing where it is gone already. */
  static void unlink(const std::string& name);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&&) = delete;
  ~Segment();

  unsigned char* data() { return data_; }

 private:
  /** `file` -1: none, for this process alone. */
  Segment(int file, int64_t bytes);

  unsigned char* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace dcpscope
