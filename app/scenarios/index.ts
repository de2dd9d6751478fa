import { causalEndAligned } from './causal-end-aligned.ts'
import { causalEndAlignedUnbounded } from './causal-end-aligned-unbounded.ts'
import { coverageGap } from './coverage-gap.ts'
import { coverageGapRank } from './coverage-gap-rank.ts'
import { coverageOverlap } from './coverage-overlap.ts'
import { interleaveMismatch } from './interleave-mismatch.ts'
import { interleaveMismatchCache } from './interleave-mismatch-cache.ts'
import { kvLayoutMismatch } from './kv-layout-mismatch.ts'
import { lengthViewsSwapped } from './length-views-swapped.ts'
import { lseBaseMismatch } from './lse-base-mismatch.ts'
import { lseBaseMismatchOneRank } from './lse-base-mismatch-one-rank.ts'
import { padRowGarbage } from './pad-row-garbage.ts'
import { pageTableNotLocal } from './page-table-not-local.ts'
import type { Scenario } from './scenario.ts'
import { slotMapIgnoresDcp } from './slot-map-ignores-dcp.ts'
import { splitCounterUndersized } from './split-counter-undersized.ts'
import { staleGraphMetadata } from './stale-graph-metadata.ts'
import { tableWidthMismatch } from './table-width-mismatch.ts'
import { tableWidthMismatchStretched } from './table-width-mismatch-stretched.ts'
import { topkNotLocalised } from './topk-not-localised.ts'
import { topkSentinelOwned } from './topk-sentinel-owned.ts'
import { topkSentinelOwnedCounted } from './topk-sentinel-owned-counted.ts'

/** The library of known failures. */
export const SCENARIOS: readonly Scenario[] = [
  lseBaseMismatch,
  lseBaseMismatchOneRank,
  lengthViewsSwapped,
  staleGraphMetadata,
  causalEndAligned,
  causalEndAlignedUnbounded,
  interleaveMismatch,
  interleaveMismatchCache,
  slotMapIgnoresDcp,
  pageTableNotLocal,
  tableWidthMismatch,
  tableWidthMismatchStretched,
  topkNotLocalised,
  topkSentinelOwned,
  topkSentinelOwnedCounted,
  kvLayoutMismatch,
  coverageOverlap,
  coverageGap,
  coverageGapRank,
  splitCounterUndersized,
  padRowGarbage,
]

/** The scenario of a name; undefined where there is none. */
export const scenarioNamed = (name: string): Scenario | undefined =>
  SCENARIOS.find((scenario) => scenario.name === name)
