#pragma once
#include <cstdint>
#include <type_traits>

namespace dcpscope::cuda {

constexpr int kWarp = 32;

/** Blocks that `items` need with `perBlock` each; at least one, so that every kernel stamps. */
inline int blocksFor(int64_t items, int64_t perBlock) {
  const int64_t blocks = (items + perBlock - 1) / perBlock;
  return blocks < 1 ? 1 : static_cast<int>(blocks);
}

/** Calls f with std::true_type or std::false_type, as `flag` says. */
template <class F>
void choose(bool flag, F&& f) {
  if (flag)
    f(std::true_type{});
  else
    f(std::false_type{});
}

/** The same for two flags, and for three. */
template <class F>
void choose(bool first, bool second, F&& f) {
  choose(first, [&](auto a) { choose(second, [&](auto b) { f(a, b); }); });
}

template <class F>
void choose(bool first, bool second, bool third, F&& f) {
  choose(first, second, [&](auto a, auto b) { choose(third, [&](auto c) { f(a, b, c); }); });
}

}  // namespace dcpscope::cuda
