#pragma once
#include <cstdint>
#include <string>

namespace dcpscope {

/** A TCP socket that never waits; closed with the object. Addresses are numeric. */
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd);
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  /** Listens at any free port of `address`, of all addresses where that is empty. ERR_ENGINE in one line. */
  static Socket listen(const std::string& address);
  /** Connects within `ms`; ERR_ENGINE that says to whom and why not. */
  static Socket connect(const std::string& address, int port, int ms);

  /** The next connection to a socket that listens; none when nobody waits. */
  Socket accept() const;
  /** The port of a socket that listens. */
  int port() const;

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace dcpscope
