#include "core/fault_point.h"

#include <cstdlib>
#include <sstream>
#include <string>

#include "core/error.h"

namespace dcpscope {

FaultPoint faultPoint() {
  FaultPoint point;
  const char* text = std::getenv("DCPSCOPE_TEST_FAULT");
  if (text == nullptr) return point;
  std::istringstream parts(text);
  std::string stage;
  char colon = 0;
  std::getline(parts, stage, ':');
  parts >> point.rank >> colon >> point.step;
  const bool whole = colon == ':' && !parts.fail();
  std::string rest;
  std::getline(parts, rest);
  point.hangs = rest == ":hang";
  for (int i = 0; i < kStageCount; ++i)
    if (stage == name(static_cast<Stage>(i)) && whole && (rest.empty() || point.hangs)) {
      point.stage = static_cast<Stage>(i);
      return point;
    }
  throw EngineError(
      ErrorCode::config,
      "DCPSCOPE_TEST_FAULT: must be stage:rank:step or stage:rank:step:hang, got " + std::string(text));
}

}  // namespace dcpscope
