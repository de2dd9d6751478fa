#include "comm/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "core/error.h"

namespace dcpscope {
namespace {

constexpr int kBacklog = 128;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses parsed(const std::string& address, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
    throw EngineError(ErrorCode::config, "network.address: must be a numeric address, got " + address);
  return {found, &::freeaddrinfo};
}

void set(int fd, int level, int option, int value) {
  static_cast<void>(::setsockopt(fd, level, option, &value, sizeof(value)));
}

Socket opened(int family) {
  Socket socket(::socket(family, SOCK_STREAM, 0));
  if (!socket)
    throw EngineError(ErrorCode::engine, std::string("cannot make a socket: ") + std::strerror(errno));
  return socket;
}

/** `why` is an error number of the system. */
[[noreturn]] void unreachable(const std::string& address, int port, int ms, int why) {
  const std::string within = why == ETIMEDOUT ? " within " + std::to_string(ms / 1000) + " s" : "";
  throw EngineError(ErrorCode::engine, "rank 0 cannot be reached at " + address + " port " +
                                           std::to_string(port) + within + " (" + std::strerror(why) +
                                           "); ranks on several machines need all ports between these open");
}

/** The error that a socket which began to connect has come to; ETIMEDOUT when it comes to nothing. */
int connected(int fd, int ms) {
  pollfd ready{fd, POLLOUT, 0};
  int count = -1;
  do count = ::poll(&ready, 1, ms);
  while (count < 0 && errno == EINTR);
  if (count < 0) return errno;
  if (count == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  static_cast<void>(::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size));
  return error;
}

}  // namespace

Socket::Socket(int fd) : fd_(fd) {
  if (fd_ < 0) return;
  static_cast<void>(::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) | O_NONBLOCK));
  static_cast<void>(::fcntl(fd_, F_SETFD, FD_CLOEXEC));
  set(fd_, IPPROTO_TCP, TCP_NODELAY, 1);
}

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Socket Socket::listen(const std::string& address) {
  const auto tried = [](const Socket& socket, const sockaddr* at, socklen_t size) {
    return ::bind(socket.fd(), at, size) == 0 && ::listen(socket.fd(), kBacklog) == 0;
  };
  const auto refuse = [&]() {
    throw EngineError(ErrorCode::engine, "cannot listen for the other ranks" +
                                             (address.empty() ? "" : " at " + address) + ": " +
                                             std::strerror(errno));
  };
  if (!address.empty()) {
    const Addresses at = parsed(address, 0);
    Socket socket = opened(at->ai_family);
    if (!tried(socket, at->ai_addr, at->ai_addrlen)) refuse();
    return socket;
  }
  // All addresses of both families, or of the older one where there is no other.
  try {
    Socket both = opened(AF_INET6);
    set(both.fd(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    if (tried(both, reinterpret_cast<const sockaddr*>(&any), sizeof(any))) return both;
  } catch (const EngineError&) {
  }
  Socket socket = opened(AF_INET);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  if (!tried(socket, reinterpret_cast<const sockaddr*>(&any), sizeof(any))) refuse();
  return socket;
}

Socket Socket::connect(const std::string& address, int port, int ms) {
  const Addresses at = parsed(address, port);
  Socket socket = opened(at->ai_family);
  if (::connect(socket.fd(), at->ai_addr, at->ai_addrlen) == 0) return socket;
  const int error = errno == EINPROGRESS ? connected(socket.fd(), ms) : errno;
  if (error != 0) unreachable(address, port, ms, error);
  return socket;
}

Socket Socket::accept() const { return Socket(::accept(fd_, nullptr, nullptr)); }

int Socket::port() const {
  sockaddr_storage at{};
  socklen_t size = sizeof(at);
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) != 0) return 0;
  const bool six = at.ss_family == AF_INET6;
  return ntohs(six ? reinterpret_cast<const sockaddr_in6*>(&at)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&at)->sin_port);
}

}  // namespace dcpscope
