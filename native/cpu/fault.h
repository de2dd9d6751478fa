#pragma once
#include "core/fault_point.h"

namespace dcpscope {

/** A rank that hangs on purpose where core/fault_point.h says; `possible` where it has a process of its own.
 */
class TestHang {
 public:
  explicit TestHang(bool possible) : at_(possible ? faultPoint() : FaultPoint()) {}

  /** Does not return when it is that rank's turn. */
  void strike(int rank, Stage stage, int step) const {
    if (step == at_.step && rank == at_.rank && stage == at_.stage) hang();
  }

 private:
  [[noreturn]] static void hang();

  const FaultPoint at_;
};

}  // namespace dcpscope
