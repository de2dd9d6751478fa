#pragma once

namespace dcpscope::cuda {

/** Sustained bytes/s of the current device's memory; a copy counts bytes read and bytes written. */
struct Bandwidth {
  double read;
  double copy;
};

/**
 * Medians of some passes over a buffer of 4 GB, or of half the free memory where that is less. Allocates,
 * waits and frees; throws ERR_ENGINE.
 */
Bandwidth measureBandwidth();

}  // namespace dcpscope::cuda
