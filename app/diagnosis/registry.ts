import type { FaultName } from '../faults/names.ts'
import { causalEndAligned } from './hypotheses/causal-end-aligned.ts'
import { coverageGap } from './hypotheses/coverage-gap.ts'
import { coverageOverlap } from './hypotheses/coverage-overlap.ts'
import { emptyRowNotNeutralised } from './hypotheses/empty-row-not-neutralised.ts'
import { gqaHeadMapLocal } from './hypotheses/gqa-head-map-local.ts'
import { headOrderPermuted } from './hypotheses/head-order-permuted.ts'
import { interleaveMismatch } from './hypotheses/interleave-mismatch.ts'
import { kvLayoutMismatch } from './hypotheses/kv-layout-mismatch.ts'
import { lengthViewsSwapped } from './hypotheses/length-views-swapped.ts'
import { lseBaseMismatch } from './hypotheses/lse-base-mismatch.ts'
import { lseDropped } from './hypotheses/lse-dropped.ts'
import { lseHeadMisaligned } from './hypotheses/lse-head-misaligned.ts'
import { lseLayoutTransposed } from './hypotheses/lse-layout-transposed.ts'
import { lseLowPrecision } from './hypotheses/lse-low-precision.ts'
import { mergeMissing } from './hypotheses/merge-missing.ts'
import { mergedEmptyNan } from './hypotheses/merged-empty-nan.ts'
import { padRowGarbage } from './hypotheses/pad-row-garbage.ts'
import { pageTableNotLocal } from './hypotheses/page-table-not-local.ts'
import { slotMapIgnoresDcp } from './hypotheses/slot-map-ignores-dcp.ts'
import { splitCounterUndersized } from './hypotheses/split-counter-undersized.ts'
import { staleGraphMetadata } from './hypotheses/stale-graph-metadata.ts'
import { tableWidthMismatch } from './hypotheses/table-width-mismatch.ts'
import { topkNotLocalised } from './hypotheses/topk-not-localised.ts'
import { topkSentinelOwned } from './hypotheses/topk-sentinel-owned.ts'
import type { Hypothesis } from './hypothesis.ts'

/** Every hypothesis; of equally good ones the first is named first. */
export const HYPOTHESES: readonly Hypothesis[] = [
  lengthViewsSwapped,
  interleaveMismatch,
  slotMapIgnoresDcp,
  tableWidthMismatch,
  topkNotLocalised,
  topkSentinelOwned,
  causalEndAligned,
  pageTableNotLocal,
  kvLayoutMismatch,
  splitCounterUndersized,
  gqaHeadMapLocal,
  lseLayoutTransposed,
  lseHeadMisaligned,
  emptyRowNotNeutralised,
  mergedEmptyNan,
  lseDropped,
  mergeMissing,
  headOrderPermuted,
  lseBaseMismatch,
  staleGraphMetadata,
  coverageGap,
  coverageOverlap,
  lseLowPrecision,
  padRowGarbage,
]

export const hypothesisOf = (fault: FaultName): Hypothesis => {
  const found = HYPOTHESES.find((hypothesis) => hypothesis.fault === fault)
  if (found === undefined) throw new RangeError(`no hypothesis is about ${fault}`)
  return found
}
