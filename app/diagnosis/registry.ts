import type { FaultName } from '../faults/names.ts'
import { causalEndAligned } from './hypotheses/causal-end-aligned.ts'
import { coverageGap } from './hypotheses/coverage-gap.ts'
import { coverageOverlap } from './hypotheses/coverage-overlap.ts'
import { emptyRowNotNeutralised } from './hypotheses/empty-row-not-neutralised.ts'
import { headOrderPermuted } from './hypotheses/head-order-permuted.ts'
import { interleaveMismatch } from './hypotheses/interleave-mismatch.ts'
import { lengthViewsSwapped } from './hypotheses/length-views-swapped.ts'
import { lseBaseMismatch } from './hypotheses/lse-base-mismatch.ts'
import { lseDropped } from './hypotheses/lse-dropped.ts'
import { lseHeadMisaligned } from './hypotheses/lse-head-misaligned.ts'
import { lseLayoutTransposed } from './hypotheses/lse-layout-transposed.ts'
import { mergeMissing } from './hypotheses/merge-missing.ts'
import { mergedEmptyNan } from './hypotheses/merged-empty-nan.ts'
import { padRowGarbage } from './hypotheses/pad-row-garbage.ts'
import { slotMapIgnoresDcp } from './hypotheses/slot-map-ignores-dcp.ts'
import { staleGraphMetadata } from './hypotheses/stale-graph-metadata.ts'
import { topkNotLocalised } from './hypotheses/topk-not-localised.ts'
import { topkSentinelOwned } from './hypotheses/topk-sentinel-owned.ts'
import type { Hypothesis } from './hypothesis.ts'

/** Every hypothesis; of equally good ones the first is named first. */
export const HYPOTHESES: readonly Hypothesis[] = [
  lengthViewsSwapped,
  interleaveMismatch,
  slotMapIgnoresDcp,
  topkNotLocalised,
  topkSentinelOwned,
  causalEndAligned,
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
  padRowGarbage,
]

export const hypothesisOf = (fault: FaultName): Hypothesis => {
  const found = HYPOTHESES.find((hypothesis) => hypothesis.fault === fault)
  if (found === undefined) throw new RangeError(`no hypothesis is about ${fault}`)
  return found
}
