#pragma once
#include <cstdio>
#include <cstdlib>

/** Ends the test program with the place and the expression when it does not hold. */
#define EXPECT(condition)                                                           \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (false)
