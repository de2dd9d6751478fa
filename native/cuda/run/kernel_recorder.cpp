#include "cuda/run/kernel_recorder.h"

#if __has_include(<cupti.h>)
#include <cupti.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "cuda/run/cupti_library.h"

namespace dcpscope::cuda {
namespace {

/** Versions whose records begin with the same fields as those of the headers: CUDA 12.0 and 13. */
constexpr uint32_t kOldestVersion = 18;
constexpr uint32_t kVersionAfter = 140'000;

constexpr size_t kBufferBytes = size_t{4} << 20;
constexpr size_t kBufferAlignment = 8;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET};

std::string copyName(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "memcpy host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "memcpy device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "memcpy device to device";
    default:
      return "memcpy";
  }
}

DeviceOp opOf(const CUpti_ActivityKernel9& record) {
  DeviceOp op;
  op.name = record.name == nullptr ? "" : record.name;
  const int32_t grid[] = {record.gridX, record.gridY, record.gridZ};
  const int32_t block[] = {record.blockX, record.blockY, record.blockZ};
  std::copy_n(grid, 3, op.grid);
  std::copy_n(block, 3, op.block);
  op.registers = record.registersPerThread;
  op.sharedBytes = record.staticSharedMemory + record.dynamicSharedMemory;
  return op;
}

DeviceOp opOf(const CUpti_ActivityMemcpy5& record) {
  DeviceOp op;
  op.kind = OpKind::copy;
  op.name = copyName(record.copyKind);
  op.bytes = static_cast<int64_t>(record.bytes);
  return op;
}

DeviceOp opOf(const CUpti_ActivityMemset3& record) {
  DeviceOp op;
  op.kind = OpKind::fill;
  op.name = "memset";
  op.bytes = static_cast<int64_t>(record.bytes);
  return op;
}

/** CUPTI's functions, and what it has delivered. Made once and never destroyed: its threads call until the
 * end. */
class Cupti {
 public:
  static Cupti& get() {
    static auto* only = new Cupti;
    return *only;
  }

  const std::string& problem() const { return problem_; }

  /** Empty, or which call failed and CUPTI's words. */
  std::string enable() {
    for (const CUpti_ActivityKind kind : kKinds) {
      const std::string failed = check(enable_(kind), "turning on its records");
      if (!failed.empty()) return failed;
    }
    return "";
  }

  void disable() {
    for (const CUpti_ActivityKind kind : kKinds) static_cast<void>(disable_(kind));
  }

  std::vector<DeviceOp> take() {
    static_cast<void>(flush_(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(ops_, {});
  }

 private:
  Cupti() : library_(cuptiCandidates()), problem_(library_.problem()) {
    if (!problem_.empty()) return;
    const bool whole = find(version_, "cuptiGetVersion") && find(words_, "cuptiGetResultString") &&
                       find(callbacks_, "cuptiActivityRegisterCallbacks") &&
                       find(enable_, "cuptiActivityEnable") && find(disable_, "cuptiActivityDisable") &&
                       find(flush_, "cuptiActivityFlushAll") && find(next_, "cuptiActivityGetNextRecord");
    uint32_t version = 0;
    if (!whole || version_(&version) != CUPTI_SUCCESS || version < kOldestVersion || version >= kVersionAfter)
      problem_ =
          "CUPTI of version " + std::to_string(version) + " is not supported; install that of CUDA 12 or 13";
    else
      problem_ = check(callbacks_(&Cupti::giveBuffer, &Cupti::takeBuffer), "registering with it");
  }

  template <class F>
  bool find(F& function, const char* name) {
    function = reinterpret_cast<F>(library_.find(name));
    return function != nullptr;
  }

  std::string check(CUptiResult result, const char* what) const {
    if (result == CUPTI_SUCCESS) return "";
    const char* words = nullptr;
    static_cast<void>(words_(result, &words));
    return std::string("CUPTI failed in ") + what + ": " +
           (words == nullptr ? std::to_string(result) : words) + "; another profiler may be using the GPU";
  }

  static void CUPTIAPI giveBuffer(uint8_t** buffer, size_t* size, size_t* most) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
    *size = *buffer == nullptr ? 0 : kBufferBytes;
    *most = 0;
  }

  static void CUPTIAPI takeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
    get().read(buffer, valid);
    std::free(buffer);
  }

  void read(uint8_t* buffer, size_t valid) {
    const std::lock_guard<std::mutex> lock(mutex_);
    CUpti_Activity* record = nullptr;
    while (valid > 0 && next_(buffer, valid, &record) == CUPTI_SUCCESS) {
      if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record->kind == CUPTI_ACTIVITY_KIND_KERNEL)
        add(*reinterpret_cast<const CUpti_ActivityKernel9*>(record));
      else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
        add(*reinterpret_cast<const CUpti_ActivityMemcpy5*>(record));
      else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET)
        add(*reinterpret_cast<const CUpti_ActivityMemset3*>(record));
    }
  }

  template <class Record>
  void add(const Record& record) {
    // Without both times it is no use to anyone; that one is missing will be noticed.
    if (record.start == 0 || record.end == 0) return;
    DeviceOp op = opOf(record);
    op.start = record.start;
    op.end = record.end;
    op.stream = static_cast<int32_t>(record.streamId);
    op.graph = record.graphId != 0;
    ops_.push_back(std::move(op));
  }

  CuptiLibrary library_;
  std::string problem_;
  decltype(&cuptiGetVersion) version_ = nullptr;
  decltype(&cuptiGetResultString) words_ = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) callbacks_ = nullptr;
  decltype(&cuptiActivityEnable) enable_ = nullptr;
  decltype(&cuptiActivityDisable) disable_ = nullptr;
  decltype(&cuptiActivityFlushAll) flush_ = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_ = nullptr;
  std::mutex mutex_;
  std::vector<DeviceOp> ops_;
};

}  // namespace

std::string KernelRecorder::problemHere() { return Cupti::get().problem(); }

KernelRecorder::KernelRecorder() {
  // Graphs that were made before CUPTI was first on may be replayed without its records.
  if (turnOn()) turnOff();
}

KernelRecorder::~KernelRecorder() {
  if (on_) Cupti::get().disable();
}

bool KernelRecorder::turnOn() {
  problem_ = problemHere();
  if (!problem_.empty()) return false;
  problem_ = Cupti::get().enable();
  on_ = problem_.empty();
  if (!on_) Cupti::get().disable();
  return on_;
}

void KernelRecorder::forget() { Cupti::get().take(); }

std::vector<DeviceOp> KernelRecorder::turnOff() {
  std::vector<DeviceOp> ops = Cupti::get().take();
  Cupti::get().disable();
  on_ = false;
  std::stable_sort(ops.begin(), ops.end(),
                   [](const DeviceOp& a, const DeviceOp& b) { return a.start < b.start; });
  return ops;
}

}  // namespace dcpscope::cuda

#else

namespace dcpscope::cuda {

std::string KernelRecorder::problemHere() {
  return "the CUDA engine was built without CUPTI's headers; install the package cuda-cupti-dev of the CUDA "
         "toolkit and build it anew";
}

KernelRecorder::KernelRecorder() : problem_(problemHere()) {}
KernelRecorder::~KernelRecorder() = default;
bool KernelRecorder::turnOn() { return false; }
void KernelRecorder::forget() {}
std::vector<DeviceOp> KernelRecorder::turnOff() { return {}; }

}  // namespace dcpscope::cuda

#endif
