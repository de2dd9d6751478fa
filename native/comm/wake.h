#pragma once

namespace dcpscope {

/** Wakes a thread that polls sockets. */
class Wake {
 public:
  Wake();
  ~Wake();
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  void ring() const;
  /** After a poll. */
  void clear() const;
  /** To be polled for reading. */
  int fd() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace dcpscope
