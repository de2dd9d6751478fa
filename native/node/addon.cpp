#include <napi.h>

#include <string>
#include <vector>

#include "comm/segment.h"
#include "core/clock.h"
#include "core/layout.h"
#include "core/memory.h"
#include "cpu/kernels.h"
#include "cpu/pool.h"
#include "cpu/probe.h"
#include "node/attend.h"
#include "node/config_reader.h"
#include "node/cuda_library.h"
#include "node/device.h"
#include "node/errors.h"
#include "node/job.h"
#include "node/results.h"
#include "node/run_object.h"
#include "run/budget.h"

namespace dcpscope::node {
namespace {

constexpr const char* kVersion = "0.1.0";

Napi::Value cpu(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const MemoryAvailable memory = memoryAvailable();
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("cores", usableCores());
    object.Set("simd", kernels().simd);
    object.Set("memoryAvailableBytes", static_cast<double>(memory.available));
    object.Set("memoryTotalBytes", static_cast<double>(memory.total));
    return object;
  });
}

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

Napi::Object gpuObject(Napi::Env env, const cuda::GpuInfo& gpu) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", gpu.name);
  object.Set("computeCapability", std::to_string(gpu.computeMajor) + "." + std::to_string(gpu.computeMinor));
  object.Set("multiprocessors", gpu.multiprocessors);
  object.Set("memoryBytes", static_cast<double>(gpu.memoryBytes));
  object.Set("freeBytes", static_cast<double>(gpu.freeBytes));
  object.Set("driverVersion", version(gpu.driverVersion));
  object.Set("runtimeVersion", version(gpu.runtimeVersion));
  object.Set("uuid", gpu.uuid);
  if (!gpu.driver.empty()) object.Set("driver", gpu.driver);
  Napi::Array peers = Napi::Array::New(env);
  for (const int peer : gpu.peers) peers.Set(peers.Length(), peer);
  object.Set("peers", peers);
  if (gpu.nvLinks >= 0) object.Set("nvLinks", gpu.nvLinks);
  return object;
}

Napi::Object ncclObject(Napi::Env env, const cuda::NcclInfo& nccl) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("available", nccl.reason.empty());
  if (nccl.reason.empty())
    object.Set("version", nccl.version);
  else
    object.Set("reason", nccl.reason);
  return object;
}

/** Never throws for what it finds: a machine without a GPU is an answer. */
Napi::Value cudaInfo(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const cuda::Report report = cudaReport();
    Napi::Array devices = Napi::Array::New(info.Env());
    for (const cuda::GpuInfo& gpu : report.devices) devices.Set(devices.Length(), gpuObject(info.Env(), gpu));
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("available", report.reason.empty());
    if (!report.reason.empty()) object.Set("reason", report.reason);
    object.Set("devices", devices);
    // Nobody has looked for it where there is no GPU.
    if (!report.devices.empty()) object.Set("nccl", ncclObject(info.Env(), report.nccl));
    return object;
  });
}

/** Why kernels cannot be recorded here; empty when they can. */
Napi::Value kernelProblem(const Napi::CallbackInfo& info) {
  return guarded(info.Env(),
                 [&]() -> Napi::Value { return Napi::String::New(info.Env(), cudaKernelProblem()); });
}

const char* placeName(MemoryPlace place) {
  switch (place) {
    case MemoryPlace::host:
      return "host";
    case MemoryPlace::pinned:
      return "pinned";
    case MemoryPlace::device:
      return "device";
  }
  return "host";
}

Napi::Value predict(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    Napi::Array list = Napi::Array::New(info.Env());
    const Config config = readConfig(info[0]);
    for (const MemoryComponent& component : predictMemory(config, deviceOf(config))) {
      Napi::Object object = Napi::Object::New(info.Env());
      object.Set("name", component.name);
      object.Set("bytes", static_cast<double>(component.bytes));
      object.Set("place", placeName(component.place));
      list.Set(list.Length(), object);
    }
    return list;
  });
}

Napi::Value bandwidth(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return runJob(info.Env(), {[]() -> Settle {
                                 const double rate = measureReadBandwidth();
                                 return [rate](Napi::Env env) -> Napi::Value {
                                   return Napi::Number::New(env, rate);
                                 };
                               },
                               nullptr, nullptr});
  });
}

Napi::Int32Array numbers(Napi::Env env, const std::vector<int32_t>& values) {
  const Napi::ArrayBuffer buffer = copyBuffer(env, values.data(), values.size() * sizeof(int32_t));
  return Napi::Int32Array::New(env, values.size(), buffer, 0);
}

Napi::Value clockNs(const Napi::CallbackInfo& info) { return Napi::BigInt::New(info.Env(), Clock(0).now()); }

/** unlinkSegment(name): takes the name of a group's shared memory away; those who have opened it keep it. */
void unlinkSegment(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] { Segment::unlink(info[0].ToString().Utf8Value()); });
}

int64_t ranged(const Napi::CallbackInfo& info, size_t index, const char* field, int64_t least, int64_t most) {
  const int64_t value = readInteger(info[index], field);
  if (value < least || value > most)
    throw EngineError(ErrorCode::config, std::string(field) + ": must be " + std::to_string(least) + " to " +
                                             std::to_string(most) + ", got " + std::to_string(value));
  return value;
}

/** layout(len, ranks, interleave, pageSize, qLen): the engine's own ownership rules, token by token. */
Napi::Value layoutOf(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const int64_t len = ranged(info, 0, "len", 0, 1 << 24);
    const int64_t c = ranged(info, 1, "ranks", 1, 1024);
    const int64_t I = ranged(info, 2, "interleave", 1, 1 << 20);
    const int64_t P = ranged(info, 3, "pageSize", 1, 1 << 20);
    const int64_t n = ranged(info, 4, "qLen", 1, 64);
    std::vector<int32_t> owner, local, column, offset, lengths, visible;
    for (int64_t t = 0; t < len; ++t) {
      const int64_t index = layout::localIndex(t, c, I);
      owner.push_back(static_cast<int32_t>(layout::owner(t, c, I)));
      local.push_back(static_cast<int32_t>(index));
      column.push_back(static_cast<int32_t>(layout::column(t, c, P)));
      offset.push_back(static_cast<int32_t>(layout::slot(0, index, P)));
    }
    for (int64_t r = 0; r < c; ++r) {
      lengths.push_back(static_cast<int32_t>(layout::localLength(len, r, c, I)));
      for (int64_t q = 0; q < n; ++q)
        visible.push_back(
            static_cast<int32_t>(layout::localLength(layout::visibleGlobal(len, n, q), r, c, I)));
    }
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("owner", numbers(info.Env(), owner));
    object.Set("localIndex", numbers(info.Env(), local));
    object.Set("column", numbers(info.Env(), column));
    object.Set("offset", numbers(info.Env(), offset));
    object.Set("localLens", numbers(info.Env(), lengths));
    object.Set("visibleKeys", numbers(info.Env(), visible));
    object.Set("columns", static_cast<double>(layout::columns(len, c, P)));
    return object;
  });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  auto* constructor = new Napi::FunctionReference(Napi::Persistent(RunObject::define(env)));
  env.SetInstanceData(constructor);
  exports.Set("version", kVersion);
  exports.Set("cpu", Napi::Function::New(env, cpu, "cpu"));
  exports.Set("cuda", Napi::Function::New(env, cudaInfo, "cuda"));
  exports.Set("kernelProblem", Napi::Function::New(env, kernelProblem, "kernelProblem"));
  exports.Set("predictMemory", Napi::Function::New(env, predict, "predictMemory"));
  exports.Set("clockNs", Napi::Function::New(env, clockNs, "clockNs"));
  exports.Set("unlinkSegment", Napi::Function::New(env, unlinkSegment, "unlinkSegment"));
  exports.Set("measureReadBandwidth", Napi::Function::New(env, bandwidth, "measureReadBandwidth"));
  exports.Set("attend", Napi::Function::New(env, attend, "attend"));
  exports.Set("layout", Napi::Function::New(env, layoutOf, "layout"));
  exports.Set("createRun",
              Napi::Function::New(
                  env,
                  [](const Napi::CallbackInfo& info) -> Napi::Value {
                    return info.Env().GetInstanceData<Napi::FunctionReference>()->New({info[0], info[1]});
                  },
                  "createRun"));
  return exports;
}

Napi::Object start(Napi::Env env, Napi::Object exports) { return init(env, exports); }

}  // namespace

NODE_API_MODULE(dcpscope, start)

}  // namespace dcpscope::node
