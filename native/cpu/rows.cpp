#include "cpu/rows.h"

#include "core/simd.h"

namespace dcpscope::DCPSCOPE_ISA {
namespace {

template <class T>
void statsTyped(const T* row, int n, RowStats& stats) {
  vi nan = {};
  vi inf = {};
  vf most = {};
  const vu infinity = splat<vu>(0x7f800000U);
  for (int d = 0; d < n; d += kLanes) {
    const vu magnitude = bits<vu>(loadFloat(row + d)) & 0x7fffffffU;
    nan -= magnitude > infinity;
    inf -= magnitude == infinity;
    const vf value = bits<vf>(magnitude < infinity ? magnitude : vu{});
    most = maximum(value, most);
  }
  stats.nan += sum(nan);
  stats.inf += sum(inf);
  const float rowMost = largest(most);
  if (rowMost > stats.absmax) stats.absmax = rowMost;
}

void stats(const void* row, bool bf16, int n, RowStats& result) {
  if (bf16)
    statsTyped(static_cast<const uint16_t*>(row), n, result);
  else
    statsTyped(static_cast<const float*>(row), n, result);
}

template <class From, class To>
void scaleTyped(const From* from, float weight, To* to, int n) {
  for (int d = 0; d < n; d += kLanes) storeFloat(to + d, loadFloat(from + d) * weight);
}

void multiply(const void* from, bool fromBf16, float weight, void* to, bool toBf16, int n) {
  const auto* fromHalf = static_cast<const uint16_t*>(from);
  const auto* fromFloat = static_cast<const float*>(from);
  auto* toHalf = static_cast<uint16_t*>(to);
  auto* toFloat = static_cast<float*>(to);
  if (fromBf16 && toBf16)
    scaleTyped(fromHalf, weight, toHalf, n);
  else if (fromBf16)
    scaleTyped(fromHalf, weight, toFloat, n);
  else if (toBf16)
    scaleTyped(fromFloat, weight, toHalf, n);
  else
    scaleTyped(fromFloat, weight, toFloat, n);
}

void scale(const void* from, bool fromBf16, float weight, void* to, bool toBf16, int n) {
  if (weight == 0.0F)
    __builtin_memset(to, 0, static_cast<size_t>(n) * (toBf16 ? sizeof(uint16_t) : sizeof(float)));
  else
    multiply(from, fromBf16, weight, to, toBf16, n);
}

inline vf rounded(vf value, const float*) { return value; }
inline vf rounded(vf value, const uint16_t*) { return widen(narrow(value)); }

template <class From, class To>
void addTyped(const void* const* rows, int count, To* to, int n) {
  vf part[kMaxAddends] = {};
  for (int d = 0; d < n; d += kLanes) {
    for (int i = 0; i < count; ++i) part[i] = loadFloat(static_cast<const From*>(rows[i]) + d);
    for (int left = count; left > 1; left = (left + 1) / 2) {
      for (int i = 0; i < left / 2; ++i)
        part[i] = rounded(part[2 * i] + part[2 * i + 1], static_cast<const From*>(nullptr));
      if (left % 2 == 1) part[left / 2] = part[left - 1];
    }
    storeFloat(to + d, part[0]);
  }
}

void add(const void* const* rows, int count, bool bf16, void* to, bool toBf16, int n) {
  if (bf16 && toBf16)
    addTyped<uint16_t>(rows, count, static_cast<uint16_t*>(to), n);
  else if (bf16)
    addTyped<uint16_t>(rows, count, static_cast<float*>(to), n);
  else if (toBf16)
    addTyped<float>(rows, count, static_cast<uint16_t*>(to), n);
  else
    addTyped<float>(rows, count, static_cast<float*>(to), n);
}

template <class From, class To>
void mergeTyped(const WeightedRows& from, To* to, int n) {
  for (int d = 0; d < n; d += kLanes) {
    vf total = {};
    for (int i = 0; i < from.count; ++i)
      if (from.all || from.weights[i] != 0.0F)
        total += loadFloat(static_cast<const From*>(from.rows[i]) + d) * from.weights[i];
    storeFloat(to + d, total);
  }
}

void merge(const WeightedRows& from, void* to, bool toBf16, int n) {
  if (from.bf16 && toBf16)
    mergeTyped<uint16_t>(from, static_cast<uint16_t*>(to), n);
  else if (from.bf16)
    mergeTyped<uint16_t>(from, static_cast<float*>(to), n);
  else if (toBf16)
    mergeTyped<float>(from, static_cast<uint16_t*>(to), n);
  else
    mergeTyped<float>(from, static_cast<float*>(to), n);
}

void addScaled(const float* from, float weight, float* to, int n) {
  for (int d = 0; d < n; d += kLanes) store(to + d, load<vf>(to + d) + load<vf>(from + d) * weight);
}

}  // namespace

extern const RowKernels rowKernels;
const RowKernels rowKernels{stats, scale, multiply, add, merge, addScaled};

}  // namespace dcpscope::DCPSCOPE_ISA
