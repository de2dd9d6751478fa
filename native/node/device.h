#pragma once
#include "core/group.h"

namespace dcpscope::node {

/** What computes a run of `config`, on GPUs the one with this place; ERR_ENGINE that says why when it cannot
 * be had. */
const Device& deviceOf(const Config& config, int gpu = 0);

}  // namespace dcpscope::node
