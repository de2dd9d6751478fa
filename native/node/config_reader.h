#pragma once
#include <napi.h>

#include "core/config.h"

namespace dcpscope::node {

/** Reads an EngineConfig object; a missing field or a wrong type is ERR_CONFIG that names the field. */
Config readConfig(const Napi::Value& value);

/** A whole number from JavaScript, ERR_CONFIG otherwise. */
int64_t readInteger(const Napi::Value& value, const char* field);

}  // namespace dcpscope::node
