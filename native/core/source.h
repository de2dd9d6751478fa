#pragma once
#include "core/config.h"
#include "core/generate.h"

namespace dcpscope {

/** What keys and queries of one layer of one request are made of. */
inline Source sourceOf(const Config& c, int layer, int request) {
  return makeSource(c.seed, layer, request, c.needles, c.contextLens[static_cast<size_t>(request)],
                    keyDimOf(c), c.softmaxScale);
}

}  // namespace dcpscope
