#pragma once
#include <cstdint>

#include "cuda/portable/group_rows.h"
#include "cuda/portable/shared.cuh"
#include "cuda/portable/work.h"

/** Which rows of [T][H] the query rows of a group are. */
namespace dcpscope::cuda::portable {

/** Row of [T][H] that is row `inGroup` of a group that is one KV head of a request. */
__device__ inline int64_t groupedRow(const Work& work, int group, int inGroup) {
  return groupedRow(KvGroups{work.shape.qLen, work.shape.heads, work.kvHeads, work.headsTogether}, group,
                    inGroup);
}

/** The same for a group of any kind. */
__device__ inline int64_t rowOf(const Work& work, int group, int inGroup) {
  if (work.shape.kvHeads > 0) return groupedRow(work, group, inGroup);
  return int64_t(group) * work.rowsPerGroup + inGroup;
}

/** Row `row` of a piece. T is a Tile. */
template <class T>
__device__ int64_t rowOf(const Work& work, const Piece& piece, int row) {
  if constexpr (T::kGrouped) return groupedRow(work, piece.group, piece.index * T::kRows + row);
  return piece.firstRow + row;
}

/** Request of a group of a dense call. */
template <class T>
__device__ int requestOf(const Work& work, int group) {
  return T::kGrouped ? group / work.kvHeads : group;
}

}  // namespace dcpscope::cuda::portable
