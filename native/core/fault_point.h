#pragma once
#include "core/trace.h"

namespace dcpscope {

/** Where a fault is made on purpose, for tests of what happens then. */
struct FaultPoint {
  Stage stage = Stage::metadata;
  int rank = -1;
  /** -1: there is none. */
  int step = -1;
  /** On a GPU it hangs for a while instead of failing; a rank on the CPU always hangs. */
  bool hangs = false;
};

/**
 * DCPSCOPE_TEST_FAULT=stage:rank:step of the environment, e.g. decode_attn:1:3 or decode_attn:1:3:hang;
 * ERR_CONFIG for other text.
 */
FaultPoint faultPoint();

}  // namespace dcpscope
