#pragma once

namespace dcpscope::cuda::host_tests {

/** Faults in runs of ranks that take turns on one device: what the host hands to kernels, and which it
 * launches.
 */
void faultsActOnGpus();

}  // namespace dcpscope::cuda::host_tests
