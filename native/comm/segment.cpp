#include "comm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/memory.h"

namespace dcpscope {
namespace {

constexpr mode_t kOwnerOnly = 0600;
/** Where Linux keeps shared memory. */
constexpr const char* kFolder = "/dev/shm";

/** A file descriptor that is closed whatever happens. */
struct File {
  explicit File(int opened) : fd(opened) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

[[noreturn]] void refuse(const char* what, const std::string& name, int error) {
  throw EngineError(ErrorCode::engine,
                    std::string(what) + " the shared memory " + name + ": " + std::strerror(error));
}

[[noreturn]] void tooSmall(int64_t bytes, const std::string& rest) {
  throw EngineError(ErrorCode::memory,
                    std::string(kFolder) + " is too small: the ranks exchange through " + readable(bytes) +
                        " of shared memory, " + rest +
                        "; make it larger (mount -o remount,size=..., or --shm-size of a container)");
}

void requireFree([[maybe_unused]] int64_t bytes) {
#if defined(__linux__)
  struct statvfs system{};
  if (::statvfs(kFolder, &system) != 0) return;
  const auto free = static_cast<int64_t>(system.f_bavail) * static_cast<int64_t>(system.f_frsize);
  if (free < bytes) tooSmall(bytes, readable(free) + " are free");
#endif
}

/** Takes the pages now, since one that is missing later would kill whoever touches it. */
void reserve(int fd, [[maybe_unused]] int64_t bytes, const std::string& name) {
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) refuse("cannot size", name, errno);
#if defined(__linux__)
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (error == ENOSPC || error == ENOMEM) tooSmall(bytes, "which are not free");
  if (error != 0) refuse("cannot reserve", name, error);
#endif
}

}  // namespace

Segment Segment::create(const std::string& name, int64_t bytes) {
  requireFree(bytes);
  const File file(::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, kOwnerOnly));
  if (file.fd < 0) refuse("cannot make", name, errno);
  try {
    reserve(file.fd, bytes, name);
    return Segment(file.fd, bytes);
  } catch (const EngineError&) {
    unlink(name);
    throw;
  }
}

Segment Segment::open(const std::string& name, int64_t bytes) {
  const File file(::shm_open(name.c_str(), O_RDWR, 0));
  if (file.fd < 0) refuse("cannot open", name, errno);
  struct stat found{};
  if (::fstat(file.fd, &found) != 0) refuse("cannot look at", name, errno);
  if (found.st_size != static_cast<off_t>(bytes))
    throw EngineError(ErrorCode::engine, "the shared memory " + name + " has " +
                                             std::to_string(found.st_size) + " bytes instead of " +
                                             std::to_string(bytes));
  return Segment(file.fd, bytes);
}

Segment Segment::alone(int64_t bytes) { return Segment(-1, bytes); }

void Segment::unlink(const std::string& name) { static_cast<void>(::shm_unlink(name.c_str())); }

Segment::Segment(int file, int64_t bytes) : bytes_(bytes) {
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* at = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, kind, file, 0);
  if (at == MAP_FAILED)
    throw EngineError(ErrorCode::memory,
                      "the system refused to map " + readable(bytes) + " by which the ranks meet");
  data_ = static_cast<unsigned char*>(at);
}

Segment::Segment(Segment&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Segment::~Segment() {
  if (data_ != nullptr) ::munmap(data_, static_cast<size_t>(bytes_));
}

}  // namespace dcpscope
