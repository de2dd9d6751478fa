#pragma once
#include <cuda.h>

#include <cstdint>

namespace dcpscope::cuda {

/** A map of bf16 [rows][columns] for boxes of 64 columns and `boxRows` rows in the layout of kBoxBytes. */
CUtensorMap tensorMap(const void* data, int64_t rows, int columns, int boxRows);

}  // namespace dcpscope::cuda
