#include "node/run_object.h"

#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "node/config_reader.h"
#include "node/device.h"
#include "node/errors.h"
#include "node/job.h"
#include "node/results.h"

namespace dcpscope::node {
namespace {

/** A duration or size: a number from 0, infinity allowed. */
double readAmount(const Napi::Value& value, const char* field) {
  if (!value.IsNumber() || !(value.As<Napi::Number>().DoubleValue() >= 0))
    throw EngineError(ErrorCode::config, std::string(field) + ": must be a number from 0");
  return value.As<Napi::Number>().DoubleValue();
}

int64_t clampInteger(double value) {
  constexpr double most = 9007199254740992.0;
  return static_cast<int64_t>(std::fmin(value, most));
}

Napi::Value resultObject(Napi::Env env, const AdvanceResult& result) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("stepsDone", result.stepsDone);
  object.Set("finished", result.finished);
  object.Set("ringsFull", result.ringsFull);
  return object;
}

}  // namespace

Napi::Function RunObject::define(Napi::Env env) {
  return DefineClass(
      env, "NativeRun",
      {InstanceMethod<&RunObject::fill>("fill"), InstanceMethod<&RunObject::advance>("advance"),
       InstanceMethod<&RunObject::drain>("drain"), InstanceMethod<&RunObject::takeCaptures>("takeCaptures"),
       InstanceMethod<&RunObject::dropped>("dropped"), InstanceMethod<&RunObject::places>("places"),
       InstanceMethod<&RunObject::port>("port"), InstanceMethod<&RunObject::facts>("facts"),
       InstanceMethod<&RunObject::abandon>("abandon"), InstanceMethod<&RunObject::cancel>("cancel"),
       InstanceMethod<&RunObject::dispose>("dispose")});
}

RunObject::RunObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  guarded(info.Env(), [&] {
    const Config config = readConfig(info[0]);
    const std::optional<Member> member = readMember(info[1]);
    run_ = std::make_shared<Run>(config, deviceOf(config, member ? member->gpu : 0), member);
  });
}

RunObject::~RunObject() {
  if (run_ != nullptr) run_->cancel();
}

Run& RunObject::idle(const char* call) {
  if (run_ == nullptr) throw EngineError(ErrorCode::state, std::string(call) + ": the run is disposed");
  if (*busy_ && !abandoned_)
    throw EngineError(ErrorCode::state, std::string(call) + ": the run is busy with another call");
  return *run_;
}

Napi::Value RunObject::fill(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    idle("fill");
    const double maxMs = readAmount(info[0], "maxMs");
    *busy_ = true;
    run_->arm();
    return runJob(info.Env(), {[run = run_, maxMs]() -> Settle {
                                 const double done = run->fill(maxMs);
                                 return [done](Napi::Env env) -> Napi::Value {
                                   return Napi::Number::New(env, done);
                                 };
                               },
                               [run = run_] { run->cancel(); }, [busy = busy_] { *busy = false; }});
  });
}

Napi::Value RunObject::advance(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    idle("advance");
    constexpr double most = std::numeric_limits<int>::max();
    const auto maxSteps = static_cast<int>(std::fmin(readAmount(info[0], "maxSteps"), most));
    const double maxMs = readAmount(info[1], "maxMs");
    const int64_t waitedNs = clampInteger(readAmount(info[2], "waitedNs"));
    *busy_ = true;
    run_->arm();
    return runJob(info.Env(), {[run = run_, maxSteps, maxMs, waitedNs]() -> Settle {
                                 const AdvanceResult result = run->advance(maxSteps, maxMs, waitedNs);
                                 return [result](Napi::Env env) { return resultObject(env, result); };
                               },
                               [run = run_] { run->cancel(); }, [busy = busy_] { *busy = false; }});
  });
}

Napi::Value RunObject::drain(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    Run& run = idle("drain");
    const int64_t maxBytes = clampInteger(readAmount(info[0], "maxBytes"));
    Napi::Array chunks = Napi::Array::New(info.Env());
    for (const NamedRing& named : run.rings())
      if (named.ring->size() > 0) chunks.Set(chunks.Length(), takeChunk(info.Env(), named, maxBytes));
    return chunks;
  });
}

Napi::Value RunObject::takeCaptures(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    Napi::Array captures = Napi::Array::New(info.Env());
    for (const Capture& capture : idle("takeCaptures").takeCaptures())
      captures.Set(captures.Length(), captureObject(info.Env(), capture));
    return captures;
  });
}

Napi::Value RunObject::dropped(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return Napi::Number::New(info.Env(), static_cast<double>(idle("dropped").dropped()));
  });
}

Napi::Value RunObject::facts(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const GroupFacts facts = idle("facts").facts();
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("alignment", facts.alignment);
    object.Set("uncertaintyNs", static_cast<double>(facts.uncertaintyNs));
    object.Set("attention", facts.attention);
    if (!facts.kernelProblem.empty()) object.Set("kernelProblem", facts.kernelProblem);
    return object;
  });
}

Napi::Value RunObject::places(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    Napi::Array places = Napi::Array::New(info.Env());
    if (run_ == nullptr) return places;
    if (!*busy_) run_->rest();
    for (const Place& place : run_->places()) places.Set(places.Length(), describe(place));
    return places;
  });
}

Napi::Value RunObject::port(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return Napi::Number::New(info.Env(), run_ == nullptr ? 0 : run_->port());
  });
}

void RunObject::abandon(const Napi::CallbackInfo&) { abandoned_ = true; }

void RunObject::cancel(const Napi::CallbackInfo& info) {
  guarded(info.Env(), [&] {
    if (run_ == nullptr) throw EngineError(ErrorCode::state, "cancel: the run is disposed");
    if (*busy_) run_->cancel(info[0].ToBoolean().Value());
  });
}

void RunObject::dispose(const Napi::CallbackInfo&) {
  if (run_ != nullptr) run_->cancel();
  run_.reset();
}

}  // namespace dcpscope::node
