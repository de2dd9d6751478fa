#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/host_tests/stand_in.h"

namespace dcpscope::cuda::host_tests {
namespace {

using Job = std::function<void()>;
using Jobs = std::vector<Job>;

/** Work that a thread does in order. Streams live as long as the process. */
class Lane {
 public:
  Lane() {
    std::thread([this] { serve(); }).detach();
  }

  void add(Job job) {
    if (captured != nullptr) return captured->push_back(std::move(job));
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    changed_.notify_all();
  }
  bool idle() {
    const std::lock_guard lock(mutex_);
    return jobs_.empty() && !busy_;
  }
  void sync() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return jobs_.empty() && !busy_; });
  }

  /** Of the graph that is captured, by the one thread that does. */
  Jobs* captured = nullptr;

 private:
  [[noreturn]] void serve() {
    for (;;) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !jobs_.empty(); });
        job = std::move(jobs_.front());
        jobs_.pop_front();
        busy_ = true;
      }
      if (!device().faulted) job();
      const std::lock_guard lock(mutex_);
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool busy_ = false;
};

struct Event {
  std::atomic<uint64_t> asked{0};
  std::atomic<uint64_t> done{0};
  std::atomic<uint64_t> at{0};
};

/** An allocation that other processes can map. */
struct Shared {
  int process;
  int file;
  size_t bytes;
};

struct Everything {
  std::mutex mutex;
  std::vector<Lane*> lanes;
  std::map<void*, Shared> allocations;
};

/** Threads use it until the process is gone. */
Everything& everything() {
  static auto* all = new Everything;
  return *all;
}

Lane* of(cudaStream_t stream) { return reinterpret_cast<Lane*>(stream); }
Event* of(cudaEvent_t event) { return reinterpret_cast<Event*>(event); }

cudaError_t health() { return device().faulted ? cudaErrorIllegalAddress : cudaSuccess; }

void* map(int file, size_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

}  // namespace

Device& device() {
  static auto* one = new Device;
  return *one;
}

void enqueue(cudaStream_t stream, Job work) { of(stream)->add(std::move(work)); }

uint64_t steadyNs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace dcpscope::cuda::host_tests

using namespace dcpscope::cuda::host_tests;

extern "C" {

cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorIllegalAddress"; }
const char* cudaGetErrorString(cudaError_t) { return "a fault on purpose"; }

cudaError_t cudaSetDevice(int) { return health(); }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = device().gpus;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int gpu) {
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "Threads");
  properties->uuid.bytes[0] = static_cast<char>(gpu + 1);
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = device().peersReach ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = *total = size_t{1} << 40;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  std::vector<Lane*> lanes;
  {
    const std::lock_guard lock(everything().mutex);
    lanes = everything().lanes;
  }
  for (Lane* lane : lanes)
    if (!device().faulted) lane->sync();
  return health();
}

cudaError_t cudaMalloc(void** to, size_t bytes) {
  const int file = ::memfd_create("device memory", 0);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) return cudaErrorMemoryAllocation;
  *to = map(file, bytes);
  const std::lock_guard lock(everything().mutex);
  everything().allocations[*to] = {::getpid(), file, bytes};
  return cudaSuccess;
}
/** As CUDA's, it waits for the device. */
cudaError_t cudaFree(void* memory) {
  if (memory == nullptr || cudaDeviceSynchronize() != cudaSuccess) return health();
  const std::lock_guard lock(everything().mutex);
  const Shared shared = everything().allocations[memory];
  everything().allocations.erase(memory);
  ::munmap(memory, shared.bytes);
  ::close(shared.file);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** to, size_t bytes, unsigned) {
  *to = std::calloc(1, bytes);
  return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void** to, void* from, unsigned) {
  *to = from;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  std::memset(to, value, bytes);
  return health();
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return health();
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  enqueue(stream, [=] { std::memset(to, value, bytes); });
  return health();
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  enqueue(stream, [=] { std::memcpy(to, from, bytes); });
  return health();
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t bytes,
                              size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  enqueue(stream, [=] {
    for (size_t row = 0; row < rows; ++row)
      std::memcpy(static_cast<char*>(to) + row * toPitch, static_cast<const char*>(from) + row * fromPitch,
                  bytes);
  });
  return health();
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory) {
  const std::lock_guard lock(everything().mutex);
  const auto found = everything().allocations.find(memory);
  if (found == everything().allocations.end()) return cudaErrorInvalidValue;
  std::memcpy(handle, &found->second, sizeof(Shared));
  return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void** to, cudaIpcMemHandle_t handle, unsigned) {
  Shared shared{};
  std::memcpy(&shared, &handle, sizeof(shared));
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", shared.process, shared.file);
  const int file = ::open(path, O_RDWR);
  if (file < 0) return cudaErrorInvalidValue;
  *to = map(file, shared.bytes);
  ::close(file);
  return cudaSuccess;
}
cudaError_t cudaIpcCloseMemHandle(void*) { return cudaSuccess; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  auto* lane = new Lane;
  const std::lock_guard lock(everything().mutex);
  everything().lanes.push_back(lane);
  *stream = reinterpret_cast<cudaStream_t>(lane);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  of(stream)->sync();
  return health();
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (device().faulted) return health();
  return of(stream)->idle() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const uint64_t number = ++of(event)->asked;
  enqueue(stream, [event, number] {
    of(event)->at = steadyNs();
    of(event)->done = number;
  });
  return health();
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (device().faulted) return health();
  return of(event)->done >= of(event)->asked ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  while (cudaEventQuery(event) == cudaErrorNotReady) std::this_thread::yield();
  return health();
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  *ms = static_cast<float>(of(end)->at - of(begin)->at) / 1e6F;
  return health();
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  of(stream)->captured = new Jobs;
  return health();
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = reinterpret_cast<cudaGraph_t>(std::exchange(of(stream)->captured, nullptr));
  return health();
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long) {
  *ready = reinterpret_cast<cudaGraphExec_t>(new Jobs(*reinterpret_cast<Jobs*>(graph)));
  return health();
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return health(); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  for (const Job& job : *reinterpret_cast<Jobs*>(graph)) enqueue(stream, job);
  return health();
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<Jobs*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete reinterpret_cast<Jobs*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t* count) {
  *count = 0;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t, cudaGraphNodeType*) { return cudaErrorInvalidValue; }
}
