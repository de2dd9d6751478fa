#pragma once

namespace dcpscope {

/** Sustained read bandwidth of memory in bytes/s: all cores, a buffer far above the caches, best of some
 * passes. */
double measureReadBandwidth();

}  // namespace dcpscope
