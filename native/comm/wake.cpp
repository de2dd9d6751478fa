#include "comm/wake.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/error.h"

namespace dcpscope {

Wake::Wake() {
  if (::pipe(ends_) != 0)
    throw EngineError(ErrorCode::engine, std::string("cannot make a pipe: ") + std::strerror(errno));
  for (const int end : ends_) {
    static_cast<void>(::fcntl(end, F_SETFL, ::fcntl(end, F_GETFL) | O_NONBLOCK));
    static_cast<void>(::fcntl(end, F_SETFD, FD_CLOEXEC));
  }
}

Wake::~Wake() {
  for (const int end : ends_) ::close(end);
}

void Wake::ring() const {
  // A pipe that is full wakes as well.
  const ssize_t count = ::write(ends_[1], "", 1);
  static_cast<void>(count);
}

void Wake::clear() const {
  char bytes[64];
  while (::read(ends_[0], bytes, sizeof(bytes)) > 0);
}

}  // namespace dcpscope
