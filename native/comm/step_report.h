#pragma once
#include <cstdint>

#include "core/group.h"

namespace dcpscope {

/** What a rank says of a step to the others. */
struct StepReport {
  int64_t began = 0;
  int64_t ended = 0;
  RankNotes notes;
};

}  // namespace dcpscope
