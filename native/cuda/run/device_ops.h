#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda/run/timeline.h"

/** Single kernels, copies and fills of a step, found again in the list of its work. No CUDA. */
namespace dcpscope::cuda {

enum class OpKind : uint8_t { kernel, copy, fill };

/** What ran on the device, as its recorder saw it. Times in nanoseconds on the recorder's own clock. */
struct DeviceOp {
  OpKind kind = OpKind::kernel;
  uint64_t start = 0;
  uint64_t end = 0;
  /** Mangled, or words for copies and fills. */
  std::string name;
  /** As in KernelRow. */
  int64_t bytes = -1;
  int32_t grid[3] = {};
  int32_t block[3] = {};
  int32_t registers = -1;
  int32_t sharedBytes = -1;
  int32_t stream = 0;
  bool graph = false;
};

/** What one piece of work enqueues, in order. */
using OpKinds = std::vector<OpKind>;

/** One operation in the lane of its rank. */
struct PlacedOp {
  /** Indices among the operations, and in the order of work. */
  int32_t op;
  int32_t work;
  Stage stage;
  /** From the beginning of the step. */
  int64_t start;
};

struct PlacedOps {
  std::vector<PlacedOp> ops;
  /**
   * Every kernel stamps the device's clock between the two times that the recorder gives for it, so each
   * kernel bounds how far the clocks are apart; this is half of what all of them leave.
   */
  int64_t uncertaintyNs = 0;
};

/**
 * Gives `ops` (sorted by start) to the work that enqueued them: everything runs on one stream, so they come
 * in the order of work. Others may come before and after them. Nothing when they are not those of `kinds`,
 * which belongs to `order` like `hulls`.
 */
std::optional<PlacedOps> placeOps(const std::vector<Work>& order, const std::vector<OpKinds>& kinds,
                                  const std::vector<Hull>& hulls, const Lanes& lanes,
                                  const std::vector<DeviceOp>& ops);

/** How many operations the work of a step enqueues. */
int64_t countOps(const std::vector<OpKinds>& kinds);

/** A name as people read it. */
std::string readableName(const std::string& mangled);

}  // namespace dcpscope::cuda
