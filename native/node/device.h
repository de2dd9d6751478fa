#pragma once
#include "core/group.h"

namespace dcpscope::node {

/** What computes a run of `config`; ERR_ENGINE that says why when it cannot be had. */
const Device& deviceOf(const Config& config);

}  // namespace dcpscope::node
