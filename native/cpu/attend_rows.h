#pragma once
#include <cstdint>
#include <vector>

namespace dcpscope {

/** One query row of all heads over rows of a cache, in consecutive segments; all row major. */
struct AttendRows {
  int heads = 0;
  int keyDim = 0;
  int valueDim = 0;
  int kvHeads = 1;
  /** Softmax scale. */
  double scale = 1;
  /** [heads][keyDim]. */
  std::vector<double> q;
  /** [tokens][kvHeads][keyDim]. */
  std::vector<double> keys;
  /** [tokens][kvHeads][valueDim]; empty where a value is the beginning of its key. */
  std::vector<double> values;
  /** Key head of each head. */
  std::vector<int32_t> kvHeadOf;
  /** Where each segment ends, ascending. */
  std::vector<int32_t> segments;
};

struct AttendedRows {
  /** [segments][heads][valueDim], each segment normalised on its own. */
  std::vector<double> out;
  /** [segments][heads], natural logarithm; -inf without keys. */
  std::vector<double> lse;
};

/** Computes it on all cores. Throws ERR_CONFIG where sizes contradict each other. */
AttendedRows attendRows(const AttendRows& task);

}  // namespace dcpscope
