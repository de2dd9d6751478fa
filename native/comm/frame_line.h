#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "comm/socket.h"

namespace dcpscope {

/** Bytes of a frame that is being written. Both ends are the same engine, whose values have one form. */
class FrameWriter {
 public:
  template <class T>
  FrameWriter& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return put(&value, sizeof(T));
  }
  FrameWriter& put(const void* from, int64_t bytes) {
    bytes_.append(static_cast<const char*>(from), static_cast<size_t>(bytes));
    return *this;
  }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/** Reads a frame from its front; `ok` is false for ever once something was wanted that is not there. */
class FrameReader {
 public:
  explicit FrameReader(std::string_view bytes) : left_(bytes) {}

  template <class T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    take(&value, sizeof(T));
    return value;
  }
  void take(void* to, int64_t bytes) {
    const char* from = left_.data();
    skip(bytes);
    if (ok_) std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void skip(int64_t bytes) {
    ok_ = ok_ && bytes >= 0 && bytes <= static_cast<int64_t>(left_.size());
    if (ok_) left_.remove_prefix(static_cast<size_t>(bytes));
  }
  bool ok() const { return ok_; }
  bool empty() const { return left_.empty(); }

 private:
  std::string_view left_;
  bool ok_ = true;
};

/** A connection that carries frames, each behind its length. Nothing here waits. */
class FrameLine {
 public:
  /** `most`: bytes of a frame that the other end may send. */
  FrameLine(Socket socket, int64_t most);

  /** Sends, or keeps what the connection does not take now. */
  void send(std::string_view frame);
  /** Sends on what was kept. */
  void flush();
  bool waits() const { return sent_ < out_.size(); }

  /** Takes the frames that have come. `take` says whether it understood one. */
  void receive(const std::function<bool(std::string_view)>& take);
  /** Nothing more comes. */
  bool over() const { return over_; }
  /** Why that is so, in words. */
  const std::string& why() const { return why_; }
  void setMost(int64_t most) { most_ = most; }

  /** Tells the other end that nothing more comes; what it sends is still received. */
  void finish();
  /** Takes it that nothing more comes, and nothing goes. */
  void close(const std::string& why);
  int fd() const { return socket_.fd(); }

 private:
  Socket socket_;
  int64_t most_;
  std::string out_;
  size_t sent_ = 0;
  std::string in_;
  std::vector<char> piece_;
  bool over_ = false;
  std::string why_;
};

}  // namespace dcpscope
