#include "core/attend.h"

#include "core/micro.h"
#include "core/softmax_row.h"

namespace dcpscope::DCPSCOPE_ISA {
namespace {

/** Copies a row and fills what pads it with zeros. */
void padRow(const double* from, int width, double* to, int padded) {
  __builtin_memcpy(to, from, static_cast<size_t>(width) * sizeof(double));
  for (int i = width; i < padded; ++i) to[i] = 0;
}

void attend(const AttendTask& task, double* scratch, AttendPartial& out) {
  const int D = attendStride(task.keyDim);
  const int V = attendStride(task.valueDim);
  const int keyRow = spreadStride<double>(D);
  const int valueRow = spreadStride<double>(V);
  double* q = scratch;
  double* keys = q + kAttendHeads * keyRow;
  double* values = keys + kAttendTile * keyRow;
  double* scores = values + kAttendTile * valueRow;
  for (int h = 0; h < task.heads; ++h) {
    padRow(task.q[h], task.keyDim, q + h * keyRow, D);
    out.top[h] = kNegInf;
    out.total[h] = 0;
  }
  for (int i = 0; i < task.heads * V; ++i) out.acc[i] = 0;
  for (int64_t first = 0; first < task.tokens; first += kAttendTile) {
    const auto n = static_cast<int>(task.tokens - first < kAttendTile ? task.tokens - first : kAttendTile);
    const int padded = (n + kLanes - 1) / kLanes * kLanes;
    for (int k = 0; k < n; ++k) {
      padRow(task.keys + (first + k) * task.keyStride, task.keyDim, keys + k * keyRow, D);
      padRow(task.values + (first + k) * task.valueStride, task.valueDim, values + k * valueRow, V);
    }
    for (int i = n * keyRow; i < padded * keyRow; ++i) keys[i] = 0;
    for (int i = n * valueRow; i < padded * valueRow; ++i) values[i] = 0;
    dotTile<vd, double>({q, task.heads, keys, padded, keyRow, D}, scores, kAttendTile);
    for (int h = 0; h < task.heads; ++h) {
      const double factor =
          softmaxRow(scores + h * kAttendTile, n, padded, task.scale2, out.top[h], out.total[h]);
      if (factor != 1.0)
        for (int v = 0; v < V; v += kHalf) store(out.acc + h * V + v, load<vd>(out.acc + h * V + v) * factor);
    }
    accumulateTile<vd, double>({scores, task.heads, kAttendTile, values, padded, valueRow, out.acc, V});
  }
}

}  // namespace

extern const AttendKernels attendKernels;
const AttendKernels attendKernels{attend};

}  // namespace dcpscope::DCPSCOPE_ISA
