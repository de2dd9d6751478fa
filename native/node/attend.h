#pragma once
#include <napi.h>

namespace dcpscope::node {

/** attend(task): attention in fp64 over given rows (app/diagnosis/reference.ts); a promise. */
Napi::Value attend(const Napi::CallbackInfo& info);

}  // namespace dcpscope::node
