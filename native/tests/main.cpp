#include <cstdio>

#include "tests/tests.h"

int main() {
  dcpscope::tests::core();
  dcpscope::tests::configs();
  dcpscope::tests::faults();
  dcpscope::tests::quantising();
  dcpscope::tests::sparse();
  dcpscope::tests::attention();
  dcpscope::tests::lanes();
  dcpscope::tests::deviceOps();
  dcpscope::tests::rows();
  dcpscope::tests::plans();
  dcpscope::tests::schedule();
  dcpscope::tests::ncclCalls();
  dcpscope::tests::peers();
  dcpscope::tests::meetings();
  dcpscope::tests::steps();
  std::puts("ok");
  return 0;
}
