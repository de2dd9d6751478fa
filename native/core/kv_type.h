#pragma once
#include <cstdint>

namespace dcpscope {

/** How a pool keeps a token; quantise.h says what the last two are. */
enum class KvType : uint8_t { fp32, bf16, fp8, fp8DsMla };

}  // namespace dcpscope
