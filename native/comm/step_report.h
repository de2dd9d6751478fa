#pragma once
#include <cstdint>

#include "core/group.h"

namespace dcpscope {

/** What a rank says of a step to the others. */
struct StepReport {
  int64_t began = 0;
  /** When it began its first layer. */
  int64_t layers = 0;
  int64_t ended = 0;
  RankNotes notes;
};

}  // namespace dcpscope
