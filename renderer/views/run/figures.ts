import type { Progress, RunInfo, StoreResult } from '../../../app/protocol/store.ts'
import { failedByNan } from '../../../app/trace/check.ts'
import type { RunSummary } from '../../../app/trace/manifest.ts'
import { PROVENANCES, type Provenance } from '../../../app/trace/stages.ts'
import { stepNote } from '../../drawing/provenance.ts'

/** Numbers of the open run; null where none is known. */
export interface Figures {
  readonly steps: number
  readonly totalSteps: number
  readonly tokensPerSecond: number | null
  readonly stepMs: number | null
  /** Whether stepMs is the median of the run or its last step. */
  readonly stepKind: 'median' | 'last'
  /** What the device took for all ranks in turn; null where ranks run at once, or while it is not known. */
  readonly deviceStepMs: number | null
  readonly observerCost: NonNullable<RunSummary['observerCost']> | null
  readonly maxRelErr: number | null
  readonly checkedRows: number
  /** What became of the tokens of a draft; null where there is none, or while it is not known. */
  readonly draft: Pick<NonNullable<RunSummary['draft']>, 'proposed' | 'accepted'> | null
  readonly events: number | null
  readonly dropped: number | null
  /** Where throughput and step come from, if they were not measured. */
  readonly source: string | undefined
  /** null while it is not decided. */
  readonly checkOk: boolean | null
  /** Whether it failed by NaN in rows that were not compared, whatever the error of the others. */
  readonly failedByNan: boolean
}

/** Query for what a bundle without a summary says; one row. */
export const TOTALS_SQL =
  // Steps whose kernels were recorded are slower, and stand for the run only where there are no others.
  'WITH all_steps AS (SELECT *, kernel_trace IS NOT TRUE OR bool_and(kernel_trace IS TRUE) OVER () AS counts FROM steps) ' +
  'SELECT count(*)::DOUBLE, (sum(tokens) FILTER (WHERE counts))::DOUBLE / sum(tokens / tokens_per_s) FILTER (WHERE counts), ' +
  '(median(wall_ns) FILTER (WHERE counts))::DOUBLE / 1e6, ' +
  'max(max_rel_err)::DOUBLE, sum(checked_rows)::DOUBLE, mode(provenance) FILTER (WHERE counts), ' +
  '(median(device_ns) FILTER (WHERE counts AND device_ns <> wall_ns))::DOUBLE / 1e6, ' +
  'sum(draft_proposed)::DOUBLE, sum(draft_accepted)::DOUBLE FROM all_steps'

const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && !Number.isNaN(value) ? value : typeof value === 'bigint' ? Number(value) : null

const provenanceOf = (value: unknown): Provenance | null => PROVENANCES.find((p) => p === value) ?? null

const draftOf = (proposed: number | null, accepted: number | null): Figures['draft'] =>
  proposed === null ? null : { proposed, accepted: accepted ?? 0 }

/** From the summary of an ended run, else the live numbers, else the bundle's own rows. */
export const figuresOf = (
  { manifest, steps }: RunInfo,
  progress: Progress | null,
  totals: StoreResult<'query'> | null,
): Figures => {
  const { summary, config } = manifest
  const totalSteps = config.workload.steps
  if (summary !== undefined)
    return {
      steps: summary.steps,
      totalSteps,
      tokensPerSecond: summary.tokensPerSecond,
      stepMs: summary.stepMs.p50,
      stepKind: 'median',
      deviceStepMs: summary.deviceStepMs?.p50 ?? null,
      observerCost: summary.observerCost ?? null,
      maxRelErr: summary.check.maxRelErr,
      checkedRows: summary.check.checkedRows,
      draft: summary.draft ?? null,
      events: progress?.events ?? null,
      dropped: summary.dropped,
      source: stepNote(summary.provenance, manifest),
      checkOk: summary.check.checkedRows === 0 && summary.check.ok ? null : summary.check.ok,
      failedByNan: failedByNan(summary.check),
    }
  if (progress !== null)
    return {
      steps: progress.steps,
      totalSteps: progress.totalSteps,
      tokensPerSecond: progress.steps === 0 ? null : progress.tokensPerSecond,
      stepMs: progress.steps === 0 ? null : progress.lastStepMs,
      stepKind: 'last',
      deviceStepMs: null,
      observerCost: null,
      maxRelErr: progress.maxRelErr,
      checkedRows: progress.checkedRows,
      draft: null,
      events: progress.events,
      dropped: progress.dropped,
      source: stepNote(progress.provenance, manifest),
      checkOk: null,
      failedByNan: false,
    }
  const [row = []] = totals?.rows ?? []
  return {
    steps: numberOf(row[0]) ?? steps,
    totalSteps,
    tokensPerSecond: numberOf(row[1]),
    stepMs: numberOf(row[2]),
    stepKind: 'median',
    deviceStepMs: numberOf(row[6]),
    observerCost: null,
    maxRelErr: numberOf(row[3]),
    checkedRows: numberOf(row[4]) ?? 0,
    draft: draftOf(numberOf(row[7]), numberOf(row[8])),
    events: null,
    dropped: null,
    source: stepNote(provenanceOf(row[5]), manifest),
    checkOk: null,
    failedByNan: false,
  }
}
