import { causalEndAligned } from './causal-end-aligned.ts'
import { causalEndAlignedUnbounded } from './causal-end-aligned-unbounded.ts'
import { coverageGap } from './coverage-gap.ts'
import { coverageGapRank } from './coverage-gap-rank.ts'
import { coverageOverlap } from './coverage-overlap.ts'
import { emptyRowNotNeutralised } from './empty-row-not-neutralised.ts'
import { emptyRowNotNeutralisedNan } from './empty-row-not-neutralised-nan.ts'
import { gqaHeadMapLocal } from './gqa-head-map-local.ts'
import { headOrderPermuted } from './head-order-permuted.ts'
import { interleaveMismatch } from './interleave-mismatch.ts'
import { interleaveMismatchCache } from './interleave-mismatch-cache.ts'
import { kvLayoutMismatch } from './kv-layout-mismatch.ts'
import { lengthViewsSwapped } from './length-views-swapped.ts'
import { lengthViewsSwappedDraft } from './length-views-swapped-draft.ts'
import { lseBaseMismatch } from './lse-base-mismatch.ts'
import { lseBaseMismatchOneRank } from './lse-base-mismatch-one-rank.ts'
import { lseDropped } from './lse-dropped.ts'
import { lseDroppedSum } from './lse-dropped-sum.ts'
import { lseHeadMisaligned } from './lse-head-misaligned.ts'
import { lseLayoutTransposed } from './lse-layout-transposed.ts'
import { lseLowPrecision } from './lse-low-precision.ts'
import { mergeMissing } from './merge-missing.ts'
import { mergedEmptyNan } from './merged-empty-nan.ts'
import { padRowGarbage } from './pad-row-garbage.ts'
import { pageTableNotLocal } from './page-table-not-local.ts'
import type { Scenario } from './scenario.ts'
import { slotMapIgnoresDcp } from './slot-map-ignores-dcp.ts'
import { slotMapIgnoresDcpDraft } from './slot-map-ignores-dcp-draft.ts'
import { splitCounterUndersized } from './split-counter-undersized.ts'
import { staleGraphMetadata } from './stale-graph-metadata.ts'
import { staleGraphMetadataDraft } from './stale-graph-metadata-draft.ts'
import { tableWidthMismatch } from './table-width-mismatch.ts'
import { tableWidthMismatchStretched } from './table-width-mismatch-stretched.ts'
import { topkNotLocalised } from './topk-not-localised.ts'
import { topkSentinelOwned } from './topk-sentinel-owned.ts'
import { topkSentinelOwnedCounted } from './topk-sentinel-owned-counted.ts'

/** The library of known failures. */
export const SCENARIOS: readonly Scenario[] = [
  lseBaseMismatch,
  lseBaseMismatchOneRank,
  emptyRowNotNeutralised,
  emptyRowNotNeutralisedNan,
  mergedEmptyNan,
  lengthViewsSwapped,
  lengthViewsSwappedDraft,
  staleGraphMetadata,
  staleGraphMetadataDraft,
  lseDropped,
  lseDroppedSum,
  mergeMissing,
  causalEndAligned,
  causalEndAlignedUnbounded,
  interleaveMismatch,
  interleaveMismatchCache,
  slotMapIgnoresDcp,
  slotMapIgnoresDcpDraft,
  pageTableNotLocal,
  tableWidthMismatch,
  tableWidthMismatchStretched,
  topkNotLocalised,
  topkSentinelOwned,
  topkSentinelOwnedCounted,
  lseLayoutTransposed,
  lseHeadMisaligned,
  headOrderPermuted,
  kvLayoutMismatch,
  coverageOverlap,
  coverageGap,
  coverageGapRank,
  lseLowPrecision,
  splitCounterUndersized,
  gqaHeadMapLocal,
  padRowGarbage,
]

/** The scenario of a name; undefined where there is none. */
export const scenarioNamed = (name: string): Scenario | undefined =>
  SCENARIOS.find((scenario) => scenario.name === name)
