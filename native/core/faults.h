#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/**
 * Faults that are injected on purpose: known bugs of serving engines, each at the point where the real one
 * sat. What each does, with its variants and what `amount` means, is said in its file in app/faults.
 */
namespace dcpscope {

/** In the order of kFaultNames. */
enum class FaultKind : int {
  causalEndAligned,
  coverageGap,
  coverageOverlap,
  emptyRowNotNeutralised,
  gqaHeadMapLocal,
  headOrderPermuted,
  interleaveMismatch,
  kvLayoutMismatch,
  lengthViewsSwapped,
  lseBaseMismatch,
  lseDropped,
  lseHeadMisaligned,
  lseLayoutTransposed,
  lseLowPrecision,
  mergeMissing,
  mergedEmptyNan,
  padRowGarbage,
  pageTableNotLocal,
  slotMapIgnoresDcp,
  splitCounterUndersized,
  staleGraphMetadata,
  tableWidthMismatch,
  topkNotLocalised,
  topkSentinelOwned,
};

/** Variants of the faults that have several, as the files of app/faults number them. */
enum CausalVariant { kCausalHides, kCausalShows };
enum GapVariant { kGapOfTokens, kGapOfRank };
enum InterleaveVariant { kInterleaveOfLengths, kInterleaveOfCache };
enum DroppedVariant { kDroppedMean, kDroppedSum };
enum LengthVariant { kGlobalForLocal, kLocalForGlobal };
enum StaleVariant { kStaleBoth, kStaleLengths, kStalePages };
enum TableVariant { kTableNarrow, kTableStretched };
enum SentinelVariant { kSentinelIndexed, kSentinelCounted };

/** Bytes of a token in the quantised layouts that are confused: fp8, and fp8_ds_mla. */
constexpr bool isQuantisedRow(int bytes) { return bytes == 576 || bytes == 656; }
/** The other one of them. */
constexpr int otherRowBytes(int rowBytes) { return rowBytes == 576 ? 656 : 576; }

/** By its identifier, `lse-base-mismatch`; none for one that the engine cannot inject. */
std::optional<FaultKind> faultKind(std::string_view name);
std::string_view name(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::coverageGap;
  /** Bit r: acts on rank r. */
  uint64_t ranks = 0;
  /** Where it acts; empty: everywhere. */
  std::vector<int> layers;
  std::vector<int> steps;
  int variant = 0;
  int64_t amount = 0;
  /** Acts on the draft, and not on the model. */
  bool draft = false;
};

/** Whether a fault of this kind is among them. */
bool contains(const std::vector<Fault>& faults, FaultKind kind);

/** Layer of what is done once a step for all of the model, and that of the draft. */
constexpr int kAllLayers = -1;
constexpr int kDraftLayer = -2;

/** The faults of a run. A run without faults pays one test of a bit at each point. */
class Faults {
 public:
  explicit Faults(const std::vector<Fault>& faults);

  /**
   * The last fault of this kind that acts there; null where none does. `layer` may be kAllLayers, where
   * faults that name layers do not act, or kDraftLayer.
   */
  const Fault* at(FaultKind kind, int rank, int layer, int step) const {
    return (kinds_ >> static_cast<int>(kind) & 1) == 0 ? nullptr : find(kind, rank, layer, step);
  }

  bool none() const { return faults_.empty(); }
  /**
   * Bit i: fault i acts in the step on the model, or on the draft, of those that change which kernels a GPU
   * runs, or with what arguments. Others act on the metadata that kernels are handed, which lie in buffers.
   */
  uint64_t launchedIn(int step, bool draft) const;

 private:
  const Fault* find(FaultKind kind, int rank, int layer, int step) const;

  std::vector<Fault> faults_;
  uint64_t kinds_ = 0;
};

}  // namespace dcpscope
