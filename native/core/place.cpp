#include "core/place.h"

namespace dcpscope {

std::string describe(const Place& place) {
  const std::string step = "step " + std::to_string(place.step);
  switch (place.activity) {
    case Activity::starting:
      return "its start";
    case Activity::filling:
      return "the filling of the context";
    case Activity::resting:
      return "the pause between steps";
    case Activity::preparing:
      return "the inputs of " + step;
    case Activity::beginning:
      return "the beginning of " + step;
    case Activity::stage:
      return name(place.stage) + std::string(" of ") +
             (place.layer < 0 ? "" : "layer " + std::to_string(place.layer) + ", ") + step;
    case Activity::ending:
      return "the end of " + step;
    case Activity::checking:
      return "the check of " + step;
  }
  return "an unknown place";
}

}  // namespace dcpscope
