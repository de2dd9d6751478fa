#pragma once
#include <napi.h>

#include <optional>

#include "core/config.h"
#include "core/member.h"

namespace dcpscope::node {

/** The rank that a run is to be; none for undefined. ERR_CONFIG names the field at fault. */
std::optional<Member> readMember(const Napi::Value& value);

/** Reads an EngineConfig object; a missing field or a wrong type is ERR_CONFIG that names the field. */
Config readConfig(const Napi::Value& value);

/** A whole number from JavaScript, ERR_CONFIG otherwise. */
int64_t readInteger(const Napi::Value& value, const char* field);

}  // namespace dcpscope::node
