#include "node/attend.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "cpu/attend_rows.h"
#include "node/config_reader.h"
#include "node/errors.h"
#include "node/job.h"
#include "node/results.h"

namespace dcpscope::node {
namespace {

template <class T, class Array>
std::vector<T> copied(const Napi::Object& object, const char* field, napi_typedarray_type type,
                      const char* what) {
  const Napi::Value value = object.Get(field);
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
    throw EngineError(ErrorCode::config, std::string(field) + ": must be " + what);
  const auto array = value.As<Array>();
  return std::vector<T>(array.Data(), array.Data() + array.ElementLength());
}

std::vector<double> doubles(const Napi::Object& object, const char* field) {
  return copied<double, Napi::Float64Array>(object, field, napi_float64_array, "a Float64Array");
}

std::vector<int32_t> integers(const Napi::Object& object, const char* field) {
  return copied<int32_t, Napi::Int32Array>(object, field, napi_int32_array, "an Int32Array");
}

int size(const Napi::Object& object, const char* field) {
  const int64_t value = readInteger(object.Get(field), field);
  if (value < 1 || value > std::numeric_limits<int>::max())
    throw EngineError(ErrorCode::config, std::string(field) + ": must be a positive whole number");
  return static_cast<int>(value);
}

AttendRows taskOf(const Napi::Value& value) {
  if (!value.IsObject()) throw EngineError(ErrorCode::config, "task: must be an object");
  const auto object = value.As<Napi::Object>();
  AttendRows task;
  task.heads = size(object, "heads");
  task.keyDim = size(object, "keyDim");
  task.valueDim = size(object, "valueDim");
  task.kvHeads = size(object, "kvHeads");
  task.scale = object.Get("scale").ToNumber().DoubleValue();
  task.q = doubles(object, "q");
  task.keys = doubles(object, "keys");
  if (!object.Get("values").IsUndefined()) task.values = doubles(object, "values");
  task.kvHeadOf = integers(object, "kvHeadOf");
  task.segments = integers(object, "segments");
  return task;
}

Napi::Value array(Napi::Env env, const std::vector<double>& values) {
  const Napi::ArrayBuffer buffer = copyBuffer(env, values.data(), values.size() * sizeof(double));
  return Napi::Float64Array::New(env, values.size(), buffer, 0);
}

}  // namespace

Napi::Value attend(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    auto task = std::make_shared<AttendRows>(taskOf(info[0]));
    return runJob(info.Env(), {[task]() -> Settle {
                                 auto result = std::make_shared<AttendedRows>(attendRows(*task));
                                 return [result](Napi::Env env) -> Napi::Value {
                                   Napi::Object object = Napi::Object::New(env);
                                   object.Set("out", array(env, result->out));
                                   object.Set("lse", array(env, result->lse));
                                   return object;
                                 };
                               },
                               nullptr, nullptr});
  });
}

}  // namespace dcpscope::node
