#include "cpu/kernel_output.h"

#include <algorithm>
#include <cstring>

#include "core/bf16.h"
#include "core/stale.h"

namespace dcpscope {
namespace {

bool hasPadding(const Config& c, const Shape& s) { return s.kernelHeads > c.heads; }

int64_t outBytes(const Config& c, const Shape& s) {
  return hasPadding(c, s) ? static_cast<int64_t>(s.tokens) * s.kernelHeads * s.valueDim * s.valueBytes : 0;
}

}  // namespace

KernelOutput::KernelOutput(const Config& c, const Shape& s)
    : heads_(c.heads),
      rowBytes_(static_cast<int64_t>(s.valueDim) * s.valueBytes),
      ownOut_(outBytes(c, s)),
      ownLse_(kernelLseBytes(c, s, s.tokens)),
      kernelLse_{{c.lseLayout, s.tokens, s.kernelHeads, c.qLen}, c.lseBf16, ownLse_.data()} {
  // Nobody computes the heads that only pad, so that they hold what was in memory before.
  if (!padded()) return;
  const int64_t values = place_.size() * s.valueDim;
  fillRow(ownOut_.data(), s.valueBytes == 2, kStaleOut, values);
  fillRow(ownLse_.data(), kernelLse_.bf16, kStaleLse, place_.size());
}

void KernelOutput::putLse(int64_t row, float lse) {
  if (faults_.rounds) lse = fromBf16(toBf16(lse));
  if (ownLse_.size() == 0) {
    lse_[row] = lse;
    return;
  }
  kernelLse_.put(place_.at(row / heads_, row % heads_), lse);
}

void KernelOutput::bring() {
  if (padded()) copyOut(out_);
  if (ownLse_.size() == 0) return;
  for (int64_t row = 0; row < place_.tokens * heads_; ++row)
    lse_[row] = kernelLse_.get(place_.readAt(row, heads_, faults_.reading));
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
    for (int64_t h = 0; h < heads_; ++h) to[t * heads_ + h] = kernelLse_.get(place_.at(t, h));
}

int64_t KernelOutput::moved() const {
  const int64_t rows = place_.tokens * heads_;
  return (padded() ? rows * rowBytes_ : 0) + (ownLse_.size() > 0 ? rows * (kernelLse_.bf16 ? 2 : 4) : 0);
}

int64_t KernelOutput::bytes(const Config& c, const Shape& s) {
  return outBytes(c, s) + kernelLseBytes(c, s, s.tokens);
}

}  // namespace dcpscope
