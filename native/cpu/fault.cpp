#include "cpu/fault.h"

#include <chrono>
#include <thread>

namespace dcpscope {

void TestHang::hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace dcpscope
