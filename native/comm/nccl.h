#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

/**
 * NCCL, loaded when it is first asked for: nothing is linked against it and no header of it is needed. What
 * stands here of its types has been the same since NCCL 2.10. Environment variables of NCCL are left as they
 * are.
 */
namespace dcpscope::nccl {

/** The first version whose collectives can be captured in CUDA graphs: 2.9.6, as NCCL counts. */
constexpr int kLeastVersion = 20906;

/** A CUDA stream, whose work NCCL's calls become. */
using Stream = void*;

/** What the ranks of a communicator find each other by; one rank makes it and hands it to the others. */
struct UniqueId {
  std::array<char, 128> bytes{};
};

/** Values that are summed; codes of NCCL. */
enum class Type : int { fp32 = 7, bf16 = 9 };

/** `2.27.3` for 22703. */
std::string versionText(int version);

/** A file, or names that the loader looks for. DCPSCOPE_NCCL in the environment names the only one. */
std::vector<std::string> candidates();

/** The functions of NCCL that ranks need. The library stays open, as its threads outlive any use. */
class Library {
 public:
  explicit Library(const std::vector<std::string>& candidates = nccl::candidates());

  /** Why NCCL cannot be used and what to do, in one line; empty when it can. */
  const std::string& problem() const { return problem_; }
  int version() const { return version_; }

  /** On the rank that hands it to the others. */
  UniqueId uniqueId() const;

 private:
  friend class Communicator;
  using Result = int;
  using Handle = void*;

  void* open(const std::vector<std::string>& candidates);
  template <class F>
  void find(void* library, const char* name, F& function);
  /** Throws ERR_DEVICE for an error of CUDA and else ERR_ENGINE, with NCCL's own words. */
  void require(Result result, const char* what, Handle communicator = nullptr) const;

  std::string problem_;
  int version_ = 0;
  Result (*getVersion_)(int*) = nullptr;
  Result (*getUniqueId_)(UniqueId*) = nullptr;
  Result (*commInitRank_)(Handle*, int, UniqueId, int) = nullptr;
  Result (*commDestroy_)(Handle) = nullptr;
  Result (*commAbort_)(Handle) = nullptr;
  Result (*commGetAsyncError_)(Handle, Result*) = nullptr;
  const char* (*getErrorString_)(Result) = nullptr;
  /** From 2.13 on; null in older ones. */
  const char* (*getLastError_)(Handle) = nullptr;
  Result (*groupStart_)() = nullptr;
  Result (*groupEnd_)() = nullptr;
  Result (*allGather_)(const void*, void*, size_t, int, Handle, Stream) = nullptr;
  Result (*reduceScatter_)(const void*, void*, size_t, int, int, Handle, Stream) = nullptr;
  Result (*send_)(const void*, size_t, int, int, Handle, Stream) = nullptr;
  Result (*recv_)(void*, size_t, int, int, Handle, Stream) = nullptr;
};

/**
 * One rank of a group, on the GPU that is current when it is made. Collectives only enqueue work; all ranks
 * enqueue the same in the same order. Every call throws what `Library` throws; after that the communicator is
 * only destroyed, which aborts what is under way on this rank.
 */
class Communicator {
 public:
  /** Returns when all `ranks` have come, so whoever waits for this process bounds the wait. */
  Communicator(const Library& library, const UniqueId& id, int ranks, int rank);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /** receive[r] = send of rank r, `bytes` each. */
  void allGather(const void* send, void* receive, int64_t bytes, Stream stream);
  /** receive = sum over the ranks of their send[rank], `values` each. */
  void reduceScatter(const void* send, void* receive, int64_t values, Type type, Stream stream);
  /** receive[r] = send[rank] of rank r, `bytes` each: one group of sends and receives, also to itself. */
  void allToAll(const void* send, void* receive, int64_t bytes, Stream stream);

  /** Throws an error that work has met since it was enqueued. */
  void requireHealthy();

  /** Lets work under way on this rank end, whatever the others do; from any thread. After it the communicator
   * is only destroyed. */
  void abort();

 private:
  void require(int result, const char* what);

  const Library& library_;
  const int ranks_;
  /** Null once it is aborted, which another thread may do at any time. */
  std::atomic<void*> handle_{nullptr};
  std::atomic<bool> broken_{false};
};

}  // namespace dcpscope::nccl
