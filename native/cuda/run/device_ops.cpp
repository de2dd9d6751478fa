#include "cuda/run/device_ops.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

namespace dcpscope::cuda {
namespace {

/** Where the operations of the work begin among all; nothing when they are not there as a whole. */
std::optional<size_t> findFirst(const OpKinds& wanted, const std::vector<DeviceOp>& ops) {
  for (size_t first = 0; first + wanted.size() <= ops.size(); ++first)
    if (std::equal(wanted.begin(), wanted.end(), ops.begin() + static_cast<std::ptrdiff_t>(first),
                   [](OpKind kind, const DeviceOp& op) { return kind == op.kind; }))
      return first;
  return std::nullopt;
}

/** Bounds of what the device's clock is ahead of the recorder's. */
struct Offset {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();

  void narrow(const Hull& hull, const DeviceOp& first, const DeviceOp& last) {
    if (hull.begin == 0) return;
    most = std::min(most, static_cast<int64_t>(hull.begin - first.start));
    least = std::max(least, static_cast<int64_t>(hull.end - last.end));
  }
  bool known() const { return most != std::numeric_limits<int64_t>::max(); }
  int64_t middle() const { return least + (most - least) / 2; }
  /** Clocks that contradict each other are off by that much. */
  int64_t uncertainty() const { return std::abs(most - least) / 2; }
};

}  // namespace

int64_t countOps(const std::vector<OpKinds>& kinds) {
  int64_t count = 0;
  for (const OpKinds& own : kinds) count += static_cast<int64_t>(own.size());
  return count;
}

std::optional<PlacedOps> placeOps(const std::vector<Work>& order, const std::vector<OpKinds>& kinds,
                                  const std::vector<Hull>& hulls, const Lanes& lanes,
                                  const std::vector<DeviceOp>& ops) {
  OpKinds wanted;
  for (const OpKinds& own : kinds) wanted.insert(wanted.end(), own.begin(), own.end());
  const std::optional<size_t> first = findFirst(wanted, ops);
  if (wanted.empty() || !first) return std::nullopt;

  Offset offset;
  size_t at = *first;
  for (size_t i = 0; i < order.size(); at += kinds[i].size(), ++i)
    if (!kinds[i].empty()) offset.narrow(hulls[i], ops[at], ops[at + kinds[i].size() - 1]);
  if (!offset.known()) return std::nullopt;

  PlacedOps placed;
  placed.uncertaintyNs = offset.uncertainty();
  at = *first;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto onDevice = [&](size_t op) { return static_cast<int64_t>(ops[op].start) + offset.middle(); };
    const int64_t begin =
        hulls[i].begin == 0 && !kinds[i].empty() ? onDevice(at) : static_cast<int64_t>(hulls[i].begin);
    // A combine that is a kernel of its own is enqueued by the work of attention.
    const bool combines =
        i + 1 < order.size() && order[i + 1].stage == Stage::splitCombine && hulls[i + 1].begin > 0;
    bool combined = false;
    for (size_t k = 0; k < kinds[i].size(); ++k, ++at) {
      const bool kernel = kinds[i][k] == OpKind::kernel;
      // What comes behind the combine lays out its results.
      combined =
          combined || (combines && k > 0 && kernel &&
                       static_cast<int64_t>(hulls[i + 1].begin) + placed.uncertaintyNs >= onDevice(at));
      placed.ops.push_back({static_cast<int32_t>(at), static_cast<int32_t>(i),
                            combined && kernel ? Stage::splitCombine : order[i].stage,
                            lanes.begins[i] + onDevice(at) - begin});
    }
  }
  return placed;
}

std::string readableName(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : mangled;
}

}  // namespace dcpscope::cuda
