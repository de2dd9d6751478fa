#include "cuda/library.h"

#include <exception>
#include <map>
#include <mutex>

#include "cuda/run/devices.h"
#include "cuda/run/group.h"
#include "cuda/run/kernel_recorder.h"

#define DCPSCOPE_EXPORT __attribute__((visibility("default")))

DCPSCOPE_EXPORT const char* dcpscope_cuda_interface() { return DCPSCOPE_INTERFACE; }

DCPSCOPE_EXPORT void dcpscope_cuda_devices(dcpscope::cuda::Report& report) {
  try {
    report = dcpscope::cuda::lookAtDevices();
  } catch (const std::exception& error) {
    report.reason = error.what();
  }
}

DCPSCOPE_EXPORT void dcpscope_cuda_kernel_problem(std::string& problem) {
  try {
    problem = dcpscope::cuda::KernelRecorder::problemHere();
  } catch (const std::exception& error) {
    problem = error.what();
  }
}

DCPSCOPE_EXPORT const dcpscope::Device& dcpscope_cuda_device(int index) {
  static std::mutex mutex;
  static std::map<int, dcpscope::cuda::Gpu> gpus;
  const std::lock_guard lock(mutex);
  return gpus.try_emplace(index, index).first->second;
}
