#pragma once
#include <atomic>
#include <cstdint>
#include <string>

#include "core/trace.h"

namespace dcpscope {

enum class Activity : uint8_t {
  starting,
  filling,
  /** Between two calls of the run. */
  resting,
  preparing,
  beginning,
  stage,
  ending,
  checking,
};

/** Where a rank is. `stage` counts with Activity::stage alone; -1 where layer or step do not apply. */
struct Place {
  Activity activity = Activity::starting;
  Stage stage = Stage::metadata;
  int16_t layer = -1;
  int32_t step = -1;
};

/** In words that follow "in" and "to": `decode_attn of layer 3, step 17`. */
std::string describe(const Place& place);

/** What others see of a rank, also when it does not answer any more: that it goes on, and where it is. */
struct Beacon {
  std::atomic<uint64_t> pulse{0};
  std::atomic<uint64_t> place{0};

  void beat() { pulse.store(pulse.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  void show(const Place& at) {
    place.store(static_cast<uint64_t>(at.activity) | static_cast<uint64_t>(at.stage) << 8 |
                    static_cast<uint64_t>(static_cast<uint16_t>(at.layer)) << 16 |
                    static_cast<uint64_t>(static_cast<uint32_t>(at.step)) << 32,
                std::memory_order_relaxed);
    beat();
  }

  Place seen() const {
    const uint64_t word = place.load(std::memory_order_relaxed);
    return {static_cast<Activity>(word & 0xff), static_cast<Stage>(word >> 8 & 0xff),
            static_cast<int16_t>(word >> 16 & 0xffff), static_cast<int32_t>(word >> 32)};
  }
};

}  // namespace dcpscope
