#pragma once
#include <cstdint>

namespace dcpscope::tests {

/** Digest of generated rows, the same on every machine. */
constexpr uint64_t kGeneratedDigest = 0x2e4b14292b90ea5aULL;

void core();
void configs();
void faults();
void quantising();
void sparse();
void attention();
void lanes();
void deviceOps();
void rows();
void plans();
void schedule();
void steps();
void ncclCalls();
void peers();
void meetings();

}  // namespace dcpscope::tests
