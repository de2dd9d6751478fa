#include "cuda/sm90/tensor_map.h"

#include <cudaTypedefs.h>

#include <string>

#include "cuda/check.h"

namespace dcpscope::cuda {
namespace {

/** The driver's encoder, found at run time: nothing here links to the driver. */
PFN_cuTensorMapEncodeTiled_v12000 encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  cudaCheck(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result),
      "looking up cuTensorMapEncodeTiled");
  if (result != cudaDriverEntryPointSuccess)
    throw EngineError(ErrorCode::engine,
                      "the driver is too old: it lacks cuTensorMapEncodeTiled (CUDA 12.0)");
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
}

}  // namespace

CUtensorMap tensorMap(const void* data, int64_t rows, int columns, int boxRows) {
  static const auto encode = encoder();
  constexpr int kBoxColumns = 64;
  CUtensorMap map{};
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[1] = {static_cast<cuuint64_t>(columns) * 2};
  const cuuint32_t box[2] = {kBoxColumns, static_cast<cuuint32_t>(boxRows)};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(data), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw EngineError(ErrorCode::engine, "cuTensorMapEncodeTiled refused " + std::to_string(rows) +
                                             " rows of " + std::to_string(columns) + ": CUresult " +
                                             std::to_string(result));
  return map;
}

}  // namespace dcpscope::cuda
