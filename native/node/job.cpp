#include "node/job.h"

#include <atomic>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.h"
#include "node/errors.h"

namespace dcpscope::node {
namespace {

/**
 * Owned by the finalizer of its thread-safe function, which is the only place that joins the thread: it runs
 * after the last call, and also when the environment ends in the middle of the work.
 */
struct Job {
  Job(Napi::Env env, JobSteps s) : deferred(Napi::Promise::Deferred::New(env)), steps(std::move(s)) {}

  void run() {
    try {
      settle = steps.work();
    } catch (const EngineError& e) {
      fail(e.code(), e.what());
    } catch (const std::bad_alloc&) {
      fail(ErrorCode::memory, "out of memory");
    } catch (const std::exception& e) {
      fail(ErrorCode::engine, e.what());
    }
    returned = true;
    // After a refusal the environment is closing, and the function must not be touched any more.
    if (function.BlockingCall(this, finish) == napi_ok) function.Release();
  }

  void fail(ErrorCode code, const char* what) {
    failed = true;
    error = code;
    message = what;
  }

  static void finish(Napi::Env env, Napi::Function, Job* job) {
    if (env == nullptr) return;
    const Napi::HandleScope scope(env);
    if (job->steps.done) job->steps.done();
    if (job->failed) {
      job->deferred.Reject(makeError(env, job->error, job->message).Value());
      return;
    }
    try {
      job->deferred.Resolve(job->settle(env));
    } catch (const Napi::Error& thrown) {
      job->deferred.Reject(thrown.Value());
    }
  }

  Napi::Promise::Deferred deferred;
  JobSteps steps;
  Settle settle;
  /** The work is over, well or not. */
  std::atomic<bool> returned{false};
  bool failed = false;
  ErrorCode error = ErrorCode::engine;
  std::string message;
  Napi::ThreadSafeFunction function;
  std::thread thread;
};

}  // namespace

Napi::Promise runJob(Napi::Env env, JobSteps steps) {
  auto* job = new Job(env, std::move(steps));
  const Napi::Promise promise = job->deferred.Promise();
  job->function =
      Napi::ThreadSafeFunction::New(env, Napi::Function(), "dcpscope", 0, 1, job, [](Napi::Env, Job* ended) {
        if (!ended->returned && ended->steps.abandon) ended->steps.abandon();
        if (ended->thread.joinable()) ended->thread.join();
        delete ended;
      });
  try {
    job->thread = std::thread([job] { job->run(); });
  } catch (const std::system_error& e) {
    job->fail(ErrorCode::engine, e.what());
    Job::finish(env, Napi::Function(), job);
    job->function.Release();
  }
  return promise;
}

}  // namespace dcpscope::node
