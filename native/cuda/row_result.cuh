#pragma once
#include <cmath>

#include "core/config.h"

/** What attention writes of a row beside the values that it has summed up. */
namespace dcpscope::cuda {

/** What a row without keys gets, as the back-end profile has it; false: it stays unwritten. */
__device__ inline bool emptyRow(EmptyRow kind, float& out, float& lse) {
  if (kind == EmptyRow::unwritten) return false;
  out = kind == EmptyRow::nan ? NAN : 0.0F;
  lse = kind == EmptyRow::plusInf ? INFINITY : -INFINITY;
  return true;
}

/** A log-sum-exp in base 2, in base e unless `base2` asks for it as it is. */
__device__ inline float lseIn(bool base2, float lse2) {
  constexpr float kLn2 = 0.69314718055994530942F;
  return base2 ? lse2 : lse2 * kLn2;
}

}  // namespace dcpscope::cuda
