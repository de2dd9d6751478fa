#include "comm/nccl.h"

#include <dlfcn.h>

#include <cstdlib>

#include "core/error.h"

namespace dcpscope::nccl {
namespace {

constexpr const char* kVariable = "DCPSCOPE_NCCL";

/** Codes of NCCL. */
constexpr int kSuccess = 0;
constexpr int kUnhandledCudaError = 1;
constexpr int kInProgress = 7;
constexpr int kByte = 1;
constexpr int kSum = 0;

std::string missing() {
  std::string where = "no libnccl.so.2 in the loader's path";
  if (const char* named = std::getenv(kVariable))
    where = std::string(kVariable) + " names " + named + ", which cannot be opened";
  return "NCCL is missing (" + where + "); install NCCL " + versionText(kLeastVersion) +
         " or newer (the package libnccl2, or nvidia-nccl-cu13 with pip), and name its libnccl.so.2 in " +
         kVariable + " if it lies elsewhere";
}

const void* at(const void* base, int64_t bytes) { return static_cast<const char*>(base) + bytes; }
void* at(void* base, int64_t bytes) { return static_cast<char*>(base) + bytes; }

}  // namespace

std::string versionText(int version) {
  // Up to 2.8 a version was 1000 * major + 100 * minor + patch.
  const int unit = version < 10'000 ? 1000 : 10'000;
  return std::to_string(version / unit) + "." + std::to_string(version % unit / 100) + "." +
         std::to_string(version % 100);
}

std::vector<std::string> candidates() {
  if (const char* named = std::getenv(kVariable)) return {named};
  return {"libnccl.so.2"};
}

Library::Library(const std::vector<std::string>& candidates) {
  void* library = open(candidates);
  if (library == nullptr) {
    problem_ = missing();
    return;
  }
  find(library, "ncclGetVersion", getVersion_);
  if (!problem_.empty()) return;
  if (getVersion_(&version_) != kSuccess || version_ < kLeastVersion) {
    problem_ =
        "NCCL " + versionText(version_) + " is too old; install " + versionText(kLeastVersion) + " or newer";
    return;
  }
  find(library, "ncclGetUniqueId", getUniqueId_);
  find(library, "ncclCommInitRank", commInitRank_);
  find(library, "ncclCommDestroy", commDestroy_);
  find(library, "ncclCommAbort", commAbort_);
  find(library, "ncclCommGetAsyncError", commGetAsyncError_);
  find(library, "ncclGetErrorString", getErrorString_);
  find(library, "ncclGroupStart", groupStart_);
  find(library, "ncclGroupEnd", groupEnd_);
  find(library, "ncclAllGather", allGather_);
  find(library, "ncclReduceScatter", reduceScatter_);
  find(library, "ncclSend", send_);
  find(library, "ncclRecv", recv_);
  getLastError_ = reinterpret_cast<decltype(getLastError_)>(dlsym(library, "ncclGetLastError"));
}

void* Library::open(const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates)
    if (void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

template <class F>
void Library::find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (function == nullptr && problem_.empty()) problem_ = std::string("this NCCL lacks ") + name;
}

void Library::require(Result result, const char* what, Handle communicator) const {
  if (result == kSuccess) return;
  std::string message = std::string("NCCL ") + what + " failed: " + getErrorString_(result);
  const char* last = getLastError_ == nullptr ? nullptr : getLastError_(communicator);
  if (last != nullptr && *last != '\0') message += std::string(" (") + last + ")";
  throw EngineError(result == kUnhandledCudaError ? ErrorCode::device : ErrorCode::engine, message);
}

UniqueId Library::uniqueId() const {
  UniqueId id;
  require(getUniqueId_(&id), "get unique id");
  return id;
}

Communicator::Communicator(const Library& library, const UniqueId& id, int ranks, int rank)
    : library_(library), ranks_(ranks) {
  void* made = nullptr;
  library_.require(library_.commInitRank_(&made, ranks, id, rank), "init rank");
  handle_ = made;
}

Communicator::~Communicator() {
  // To destroy waits for work under way, which never ends when a rank is lost.
  if (broken_)
    abort();
  else
    static_cast<void>(library_.commDestroy_(handle_));
}

void Communicator::abort() {
  broken_ = true;
  if (void* handle = handle_.exchange(nullptr)) static_cast<void>(library_.commAbort_(handle));
}

void Communicator::require(int result, const char* what) {
  if (result != kSuccess) broken_ = true;
  library_.require(result, what, handle_);
}

void Communicator::allGather(const void* send, void* receive, int64_t bytes, Stream stream) {
  require(library_.allGather_(send, receive, static_cast<size_t>(bytes), kByte, handle_, stream),
          "all-gather");
}

void Communicator::reduceScatter(const void* send, void* receive, int64_t values, Type type, Stream stream) {
  require(library_.reduceScatter_(send, receive, static_cast<size_t>(values), static_cast<int>(type), kSum,
                                  handle_, stream),
          "reduce-scatter");
}

void Communicator::allToAll(const void* send, void* receive, int64_t bytes, Stream stream) {
  const auto count = static_cast<size_t>(bytes);
  require(library_.groupStart_(), "group start");
  int first = kSuccess;
  for (int peer = 0; peer < ranks_ && first == kSuccess; ++peer) {
    first = library_.send_(at(send, peer * bytes), count, kByte, peer, handle_, stream);
    if (first == kSuccess)
      first = library_.recv_(at(receive, peer * bytes), count, kByte, peer, handle_, stream);
  }
  // A group that was begun is ended also after an error, or the next one would become part of it.
  const int end = library_.groupEnd_();
  require(first, "all-to-all");
  require(end, "all-to-all");
}

void Communicator::requireHealthy() {
  int met = kSuccess;
  require(library_.commGetAsyncError_(handle_, &met), "get async error");
  if (met != kInProgress) require(met, "collective");
}

}  // namespace dcpscope::nccl
