import type { Progress } from '../../app/protocol/store.ts'
import type { RunSummary } from '../../app/trace/manifest.ts'
import { STAGES } from '../../app/trace/stages.ts'
import { textTable } from './text-table.ts'

/** The summary of a run for a person: facts, then the stages in the order in which they run. */
export const summaryText = (name: string, bundle: string, summary: RunSummary): string => {
  const { check, stepMs } = summary
  const measured: [string, string][] = [
    ['throughput', `${rate(summary.tokensPerSecond)}${label(summary)}`],
    ['step', `p50 ${fixed(stepMs.p50)} ms, p95 ${fixed(stepMs.p95)} ms`],
    ['check', checkText(check)],
    ['partials', `${check.nanRows} rows with NaN, ${check.emptyRows} rows without keys`],
  ]
  const facts: [string, string][] = [
    ['device', summary.device],
    ['ranks', String(summary.ranks)],
    ['steps', summary.steps === 0 ? 'none was finished' : String(summary.steps)],
    ...(summary.steps === 0 ? [] : measured),
    ['dropped', String(summary.dropped)],
    ['bundle', bundle],
  ]
  const width = Math.max(...facts.map(([key]) => key.length))
  const lines = [name, ...facts.map(([key, value]) => `  ${key.padEnd(width)}  ${value}`)]
  return summary.steps === 0 ? lines.join('\n') : [...lines, '', stageTable(summary)].join('\n')
}

const stageTable = (summary: RunSummary): string => {
  const stages = STAGES.flatMap((stage) => {
    const times = summary.stages[stage]
    return times === undefined ? [] : [[stage, fixed(times.p50Us), fixed(times.p95Us)]]
  })
  return textTable(['stage', 'p50 us', 'p95 us'], stages).replace(/^/gm, '  ')
}

/** What stands beside a number that was not measured as it is. */
const label = ({ provenance }: RunSummary): string => (provenance === 'measured' ? '' : ` (${provenance})`)

const checkText = (check: RunSummary['check']): string => {
  if (check.maxRelErr === null) return 'nothing was checked'
  const verdict = check.ok ? 'ok' : 'FAILED'
  return (
    `${verdict}, ${grouped(check.checkedRows)} (row, head) pairs against the fp64 reference, ` +
    `largest relative error ${check.maxRelErr.toExponential(2)} (allowed ${check.tolerance.toExponential(0)})`
  )
}

export const progressText = ({
  steps,
  totalSteps,
  tokensPerSecond,
  lastStepMs,
  maxRelErr,
}: Progress): string =>
  [
    `step ${steps}/${totalSteps}`,
    rate(tokensPerSecond),
    `${fixed(lastStepMs)} ms a step`,
    ...(maxRelErr === null ? [] : [`relative error ${maxRelErr.toExponential(1)}`]),
  ].join('  ')

const rate = (tokensPerSecond: number): string =>
  `${tokensPerSecond >= 100 ? grouped(Math.round(tokensPerSecond)) : fixed(tokensPerSecond)} tokens/s`

const fixed = (n: number): string => n.toFixed(n >= 100 ? 0 : n >= 10 ? 1 : 2)

const grouped = (n: number): string => n.toLocaleString('en-US')
