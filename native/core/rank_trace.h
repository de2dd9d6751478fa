#pragma once
#include <cstdint>
#include <vector>

#include "core/capture.h"
#include "core/trace.h"

namespace dcpscope {

/** Rows of one kind that a rank noticed in a step, and the first of them. */
struct Sighting {
  int64_t count = 0;
  int32_t layer = -1;
  int32_t request = -1;
  int32_t row = -1;

  void note(int64_t n, int32_t atLayer, int32_t atRequest, int32_t atRow) {
    if (n > 0 && count == 0) {
      layer = atLayer;
      request = atRequest;
      row = atRow;
    }
    count += n;
  }
};

struct RingSizes {
  int64_t spans;
  int64_t rows;
  int64_t pages;
  int64_t kernels = 0;
};

/** What one rank recorded. Written by whoever works for the rank while a step goes on, read between steps. */
struct RankTrace {
  explicit RankTrace(const RingSizes& sizes)
      : spans(spanColumns(), sizes.spans),
        rows(queryRowColumns(), sizes.rows),
        pages(pageColumns(), sizes.pages),
        kernels(kernelColumns(), sizes.kernels) {}

  void beginStep() {
    nan = inf = lseNan = {};
    spansMark_ = spans.mark();
    rowsMark_ = rows.mark();
    kernelsMark_ = kernels.mark();
  }

  /** Takes back what was recorded since `beginStep`. */
  void giveUp() {
    spans.rewind(spansMark_);
    rows.rewind(rowsMark_);
    kernels.rewind(kernelsMark_);
    captures.clear();
  }

  Ring spans;
  Ring rows;
  Ring pages;
  Ring kernels;
  Sighting nan;
  Sighting inf;
  Sighting lseNan;
  /** Tensors that this step's captured layers write to, in the order of captureLayers. */
  std::vector<Capture> captures;

 private:
  int64_t spansMark_ = 0;
  int64_t rowsMark_ = 0;
  int64_t kernelsMark_ = 0;
};

}  // namespace dcpscope
