#include "comm/frame_line.h"

#include <sys/socket.h>

#include <cerrno>

namespace dcpscope {
namespace {

using Length = uint32_t;

#if defined(MSG_NOSIGNAL)
constexpr int kQuietly = MSG_NOSIGNAL;
#else
constexpr int kQuietly = 0;
#endif

constexpr size_t kPiece = size_t{64} << 10;

}  // namespace

FrameLine::FrameLine(Socket socket, int64_t most) : socket_(std::move(socket)), most_(most), piece_(kPiece) {}

void FrameLine::send(std::string_view frame) {
  if (over_) return;
  const auto length = static_cast<Length>(frame.size());
  out_.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(frame);
  flush();
}

void FrameLine::flush() {
  while (!over_ && waits()) {
    const ssize_t count = ::send(socket_.fd(), out_.data() + sent_, out_.size() - sent_, kQuietly);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    // An end that takes no more may still have said why.
    if (count < 0) break;
    sent_ += static_cast<size_t>(count);
  }
  out_.clear();
  sent_ = 0;
}

void FrameLine::receive(const std::function<bool(std::string_view)>& take) {
  while (!over_) {
    const ssize_t count = ::recv(socket_.fd(), piece_.data(), piece_.size(), 0);
    if (count == 0) return close("it was closed");
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) close(std::strerror(errno));
      return;
    }
    in_.append(piece_.data(), static_cast<size_t>(count));
    size_t at = 0;
    while (in_.size() - at >= sizeof(Length)) {
      Length length = 0;
      std::memcpy(&length, in_.data() + at, sizeof(length));
      if (length > most_) return close("what came is no message");
      if (in_.size() - at - sizeof(length) < length) break;
      if (!take(std::string_view(in_).substr(at + sizeof(length), length)))
        return close("what came is no message");
      at += sizeof(length) + length;
    }
    in_.erase(0, at);
  }
}

void FrameLine::finish() { static_cast<void>(::shutdown(socket_.fd(), SHUT_WR)); }

void FrameLine::close(const std::string& why) {
  if (over_) return;
  over_ = true;
  why_ = why;
  out_.clear();
  sent_ = 0;
}

}  // namespace dcpscope
