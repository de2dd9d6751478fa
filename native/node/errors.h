#pragma once
#include <napi.h>

#include <exception>
#include <new>

#include "core/error.h"

namespace dcpscope::node {

/** A JavaScript Error with `code`. */
inline Napi::Error makeError(Napi::Env env, ErrorCode code, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, name(code)));
  return error;
}

/** Runs `f` and turns C++ exceptions into JavaScript ones. */
template <class F>
auto guarded(Napi::Env env, F&& f) {
  try {
    return f();
  } catch (const EngineError& error) {
    throw makeError(env, error.code(), error.what());
  } catch (const Napi::Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw makeError(env, ErrorCode::memory, "out of memory");
  } catch (const std::exception& error) {
    throw makeError(env, ErrorCode::engine, error.what());
  }
}

}  // namespace dcpscope::node
