import { causalEndAligned } from './causal-end-aligned.ts'
import { coverageGap } from './coverage-gap.ts'
import { coverageOverlap } from './coverage-overlap.ts'
import { emptyRowNotNeutralised } from './empty-row-not-neutralised.ts'
import type { Fault } from './fault.ts'
import { gqaHeadMapLocal } from './gqa-head-map-local.ts'
import { headOrderPermuted } from './head-order-permuted.ts'
import { interleaveMismatch } from './interleave-mismatch.ts'
import { kvLayoutMismatch } from './kv-layout-mismatch.ts'
import { lengthViewsSwapped } from './length-views-swapped.ts'
import { lseBaseMismatch } from './lse-base-mismatch.ts'
import { lseDropped } from './lse-dropped.ts'
import { lseHeadMisaligned } from './lse-head-misaligned.ts'
import { lseLayoutTransposed } from './lse-layout-transposed.ts'
import { lseLowPrecision } from './lse-low-precision.ts'
import { mergeMissing } from './merge-missing.ts'
import { mergedEmptyNan } from './merged-empty-nan.ts'
import type { FaultName } from './names.ts'
import { padRowGarbage } from './pad-row-garbage.ts'
import { pageTableNotLocal } from './page-table-not-local.ts'
import { slotMapIgnoresDcp } from './slot-map-ignores-dcp.ts'
import { splitCounterUndersized } from './split-counter-undersized.ts'
import { staleGraphMetadata } from './stale-graph-metadata.ts'
import { tableWidthMismatch } from './table-width-mismatch.ts'
import { topkNotLocalised } from './topk-not-localised.ts'
import { topkSentinelOwned } from './topk-sentinel-owned.ts'

/** Every known failure, in the order of FAULT_NAMES. */
export const FAULTS: readonly Fault[] = [
  lseBaseMismatch,
  emptyRowNotNeutralised,
  mergedEmptyNan,
  lengthViewsSwapped,
  staleGraphMetadata,
  lseDropped,
  mergeMissing,
  causalEndAligned,
  interleaveMismatch,
  slotMapIgnoresDcp,
  pageTableNotLocal,
  tableWidthMismatch,
  topkNotLocalised,
  topkSentinelOwned,
  lseLayoutTransposed,
  lseHeadMisaligned,
  headOrderPermuted,
  kvLayoutMismatch,
  coverageOverlap,
  coverageGap,
  lseLowPrecision,
  splitCounterUndersized,
  gqaHeadMapLocal,
  padRowGarbage,
]

export const faultNamed = (name: FaultName): Fault => {
  const found = FAULTS.find((fault) => fault.name === name)
  if (found === undefined) throw new RangeError(`there is no fault ${name}`)
  return found
}
