#pragma once
#include <napi.h>

#include <atomic>
#include <memory>

#include "run/run.h"

namespace dcpscope::node {

/** NativeRun of main/engine/addon.ts. Jobs keep the run alive until they return. */
class RunObject : public Napi::ObjectWrap<RunObject> {
 public:
  static Napi::Function define(Napi::Env env);

  explicit RunObject(const Napi::CallbackInfo& info);
  ~RunObject() override;

 private:
  Napi::Value fill(const Napi::CallbackInfo& info);
  Napi::Value advance(const Napi::CallbackInfo& info);
  Napi::Value drain(const Napi::CallbackInfo& info);
  Napi::Value takeCaptures(const Napi::CallbackInfo& info);
  Napi::Value facts(const Napi::CallbackInfo& info);
  Napi::Value dropped(const Napi::CallbackInfo& info);
  Napi::Value places(const Napi::CallbackInfo& info);
  Napi::Value port(const Napi::CallbackInfo& info);
  void abandon(const Napi::CallbackInfo& info);
  void cancel(const Napi::CallbackInfo& info);
  void dispose(const Napi::CallbackInfo& info);

  /** The run, when it is there and no job works on it, or one that was given up; ERR_STATE otherwise. */
  Run& idle(const char* call);

  std::shared_ptr<Run> run_;
  bool abandoned_ = false;
  std::shared_ptr<std::atomic<bool>> busy_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace dcpscope::node
