#include "cpu/kernel_output.h"

#include <algorithm>
#include <cstring>

#include "core/bf16.h"
#include "core/stale.h"

namespace dcpscope {
namespace {

bool hasPadding(const Config& c, const Shape& s) { return s.kernelHeads > c.heads; }

/** With one query token a request [B,H,q] is [T,H]. */
bool isTokens(LseLayout layout, int64_t qLen) {
  return layout == LseLayout::tokens || (layout == LseLayout::requests && qLen == 1);
}

bool keepsLseApart(const Config& c, const Shape& s) {
  return hasPadding(c, s) || c.lseBf16 || !isTokens(c.lseLayout, c.qLen) ||
         contains(c.faults, FaultKind::lseLayoutTransposed);
}

int64_t outBytes(const Config& c, const Shape& s) {
  return hasPadding(c, s) ? static_cast<int64_t>(s.tokens) * s.kernelHeads * s.valueDim * s.valueBytes : 0;
}

int64_t lseBytes(const Config& c, const Shape& s) {
  return keepsLseApart(c, s) ? static_cast<int64_t>(s.tokens) * s.kernelHeads * (c.lseBf16 ? 2 : 4) : 0;
}

}  // namespace

KernelOutput::KernelOutput(const Config& c, const Shape& s)
    : heads_(c.heads),
      rowBytes_(static_cast<int64_t>(s.valueDim) * s.valueBytes),
      bf16_(c.lseBf16),
      place_{c.lseLayout, s.tokens, s.kernelHeads, c.qLen},
      ownOut_(outBytes(c, s)),
      ownLse_(lseBytes(c, s)) {
  // Nobody computes the heads that only pad, so that they hold what was in memory before.
  if (!padded()) return;
  const int64_t values = place_.size() * s.valueDim;
  fillRow(ownOut_.data(), s.valueBytes == 2, kStaleOut, values);
  fillRow(ownLse_.data(), bf16_, kStaleLse, place_.size());
}

void KernelOutput::putLse(int64_t row, float lse) {
  if (faults_.rounds) lse = fromBf16(toBf16(lse));
  if (ownLse_.size() == 0) {
    lse_[row] = lse;
    return;
  }
  const int64_t index = place_.at(row / heads_, row % heads_);
  if (bf16_)
    reinterpret_cast<uint16_t*>(ownLse_.data())[index] = toBf16(lse);
  else
    reinterpret_cast<float*>(ownLse_.data())[index] = lse;
}

float KernelOutput::lseAt(int64_t index) const {
  return bf16_ ? fromBf16(reinterpret_cast<const uint16_t*>(ownLse_.data())[index])
               : reinterpret_cast<const float*>(ownLse_.data())[index];
}

void KernelOutput::bring() {
  if (padded()) copyOut(out_);
  if (ownLse_.size() == 0) return;
  if (faults_.reading == LseReading::right) return copyLse(lse_);
  for (int64_t row = 0; row < place_.tokens * heads_; ++row) lse_[row] = lseAt(readAt(row));
}

/** Where a step that takes the lse for another tensor than it is finds that of a row. */
int64_t KernelOutput::readAt(int64_t row) const {
  // The rows of [T, padded heads] are not as far apart as those of [T, H], which is seen from the second on.
  if (faults_.reading == LseReading::untrimmed) return place_.at(row / place_.heads, row % place_.heads);
  // [T,H] is taken for [H,T], and all others, which are views with strides, for a contiguous [T,H].
  if (!isTokens(place_.layout, place_.qLen)) return row;
  return row % heads_ * place_.tokens + row / heads_;
}

void KernelOutput::copyOut(unsigned char* to) const {
  const auto bytes = static_cast<size_t>(heads_ * rowBytes_);
  if (!padded()) {
    std::memcpy(to, out_, static_cast<size_t>(place_.tokens) * bytes);
    return;
  }
  for (int64_t t = 0; t < place_.tokens; ++t)
    std::memcpy(to + static_cast<size_t>(t) * bytes, ownOut_.data() + t * place_.heads * rowBytes_, bytes);
}

void KernelOutput::copyLse(float* to) const {
  if (ownLse_.size() == 0) {
    std::copy_n(lse_, place_.tokens * heads_, to);
    return;
  }
  for (int64_t t = 0; t < place_.tokens; ++t)
    for (int64_t h = 0; h < heads_; ++h) to[t * heads_ + h] = lseAt(place_.at(t, h));
}

int64_t KernelOutput::moved() const {
  const int64_t rows = place_.tokens * heads_;
  return (padded() ? rows * rowBytes_ : 0) + (ownLse_.size() > 0 ? rows * (bf16_ ? 2 : 4) : 0);
}

int64_t KernelOutput::bytes(const Config& c, const Shape& s) { return outBytes(c, s) + lseBytes(c, s); }

}  // namespace dcpscope
