#pragma once
#include <string>
#include <vector>

#include "cuda/tests/attention_problem.h"

namespace dcpscope::cuda::tests {

struct NamedCase {
  /** Below `attention/IMPLEMENTATION/`. */
  std::string name;
  AttentionCase made;
};

/** `bf16`, `fp8` or `fp8_ds_mla`. */
const char* nameOf(KvType kv);

/** Lengths around the borders of pages, tiles and splits, all in one batch. */
std::vector<int64_t> borderLengths(bool reduced);

/** The cases that are only compared with the reference; another `seed` gives them other data. */
std::vector<NamedCase> attentionGrid(bool reduced, uint32_t seed);

/** The same with KV heads, which the portable kernel attends to. */
std::vector<NamedCase> groupedGrid(bool reduced, uint32_t seed);

}  // namespace dcpscope::cuda::tests
