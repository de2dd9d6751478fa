#pragma once
#include <napi.h>

#include <functional>

namespace dcpscope::node {

/** Makes the value that a promise resolves with, on the JavaScript thread. */
using Settle = std::function<Napi::Value(Napi::Env)>;

struct JobSteps {
  /** On a thread of its own; what it throws rejects the promise. */
  std::function<Settle()> work;
  /** From the JavaScript thread when the process ends before `work` does: must make it return soon. */
  std::function<void()> abandon;
  /** On the JavaScript thread, before the promise settles. */
  std::function<void()> done;
};

Napi::Promise runJob(Napi::Env env, JobSteps steps);

}  // namespace dcpscope::node
