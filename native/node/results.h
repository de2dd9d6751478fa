#pragma once
#include <napi.h>

#include "core/capture.h"
#include "run/run.h"

namespace dcpscope::node {

/** Moves at most about `maxBytes` of rows out of a ring: a NativeChunk. The ring is not empty. */
Napi::Object takeChunk(Napi::Env env, const NamedRing& named, int64_t maxBytes);

/** A NativeCapture. */
Napi::Object captureObject(Napi::Env env, const Capture& capture);

/** Copies: external buffers are refused in Electron. */
Napi::ArrayBuffer copyBuffer(Napi::Env env, const void* from, size_t bytes);

}  // namespace dcpscope::node
