#pragma once
#include <cstdint>

#include "core/block.h"
#include "core/config.h"

namespace dcpscope {

/** Faults of one layer. */
struct KernelFaults {
  /** The lse is rounded to bf16 where it is stored. */
  bool rounds = false;
  LseReading reading = LseReading::right;
};

/**
 * What the attention kernel returns: partials of all heads that it computes, padding among them, and their
 * lse in a layout and a type of its own. Where these are [T][H][V] and fp32 [T][H], as the merge takes them,
 * the kernel writes there itself; else `bring` copies them. Rows are those of [T][H].
 */
class KernelOutput {
 public:
  KernelOutput(const Config& config, const Shape& shape);
  KernelOutput(const KernelOutput&) = delete;
  KernelOutput& operator=(const KernelOutput&) = delete;

  /** Where the merge takes partials and lse of the layer that comes. */
  void aim(unsigned char* out, float* lse, const KernelFaults& faults) {
    out_ = out;
    lse_ = lse;
    faults_ = faults;
  }

  unsigned char* out(int64_t row) {
    if (!padded()) return out_ + row * rowBytes_;
    return ownOut_.data() + kernelRow(row) * rowBytes_;
  }
  void putLse(int64_t row, float lse);

  /** Trims padding and brings partials and lse to where they were aimed at. */
  void bring();
  /** The same, to other places: what the kernel returned. */
  void copyOut(unsigned char* to) const;
  void copyLse(float* to) const;

  /** Bytes that `bring` moves. */
  int64_t moved() const;
  static int64_t bytes(const Config& config, const Shape& shape);

 private:
  bool padded() const { return ownOut_.size() > 0; }
  int64_t kernelRow(int64_t row) const { return row / heads_ * place_.heads + row % heads_; }

  const int64_t heads_;
  const int64_t rowBytes_;
  /** With room for padding; empty where there is none. */
  Block<unsigned char> ownOut_;
  /** fp32, or bf16 in as many bytes; empty where the kernel's lse is what the merge takes. */
  Block<unsigned char> ownLse_;
  const KernelLse kernelLse_;
  const LsePlace& place_ = kernelLse_.place;
  unsigned char* out_ = nullptr;
  float* lse_ = nullptr;
  KernelFaults faults_;
};

}  // namespace dcpscope
