import { errorText } from '../../app/messages/errors.ts'
import type { Progress } from '../../app/protocol/store.ts'
import type { RunConfig } from '../../app/run/config.ts'
import { type Caveats, caveatOf } from '../../app/trace/caveat.ts'
import { failedByNan } from '../../app/trace/check.ts'
import type { Manifest, RunSummary } from '../../app/trace/manifest.ts'
import { type Provenance, STAGES } from '../../app/trace/stages.ts'
import { textTable } from './text-table.ts'

type Fact = [name: string, value: string]

/** What the manifest says about a run in sentences. */
type Notes = Caveats & Partial<Pick<Manifest, 'kernelNote' | 'config'>>

/** The summary of a run for a person: facts, with the notes of its manifest, then the stages in the order in which they run. */
export const summaryText = (
  name: string,
  bundle: string,
  summary: RunSummary,
  { kernelNote, config, ...caveats }: Notes = {},
): string => {
  const { check, stepMs } = summary
  const caveat = caveatOf(caveats)
  // The steps name one reason; that ranks shared a GPU is another one.
  const another = caveat !== undefined && summary.provenance !== caveat.source
  const source = another ? ` (${summary.provenance}, ${caveat.source})` : label(summary.provenance)
  const measured: Fact[] = [
    ['throughput', `${rate(summary.tokensPerSecond)}${source}`],
    ['step', `${percentiles(stepMs)}${source}`],
    ...(summary.deviceStepMs === undefined
      ? []
      : [['device step', `${percentiles(summary.deviceStepMs)}, all ranks in turn`] satisfies Fact]),
    ...(summary.observerCost === undefined
      ? []
      : [['observer', observerText(summary.observerCost)] satisfies Fact]),
    ...(summary.kernelTrace === undefined
      ? []
      : [['kernels', kernelText(summary.kernelTrace)] satisfies Fact]),
    ['check', checkText(check)],
    ...(summary.draft === undefined ? [] : [['draft', draftText(summary.draft)] satisfies Fact]),
    ['partials', `${check.nanRows} rows with NaN, ${check.emptyRows} rows without keys`],
  ]
  const facts: Fact[] = [
    ['device', summary.device],
    ['ranks', String(summary.ranks)],
    ...faultFacts(config?.faults ?? []),
    ...(caveat === undefined ? [] : [[caveat.source, caveat.text] satisfies Fact]),
    ['steps', summary.steps === 0 ? 'none was finished' : String(summary.steps)],
    ...(summary.steps === 0 ? [] : measured),
    ...(kernelNote === undefined ? [] : [['no kernels', kernelNote] satisfies Fact]),
    ['dropped', String(summary.dropped)],
    ['bundle', bundle],
  ]
  const width = Math.max(...facts.map(([key]) => key.length))
  const lines = [name, ...facts.map(([key, value]) => `  ${key.padEnd(width)}  ${value}`)]
  return summary.steps === 0 ? lines.join('\n') : [...lines, '', stageTable(summary)].join('\n')
}

/** What was injected on purpose, one line each. */
const faultFacts = (faults: RunConfig['faults']): Fact[] =>
  faults.map(({ fault, ranks, layers, steps, branch }) => {
    const where = [
      ...(branch === undefined ? [] : [branch === 'draft_extend' ? 'the draft' : branch]),
      ranks === 'all' ? 'all ranks' : listed('rank', ranks),
      ...(layers === undefined ? [] : [listed('layer', layers)]),
      ...(steps === undefined ? [] : [listed('step', steps)]),
    ]
    return ['fault', `${fault} on ${where.join(', ')}`]
  })

const listed = (what: string, values: readonly number[]): string =>
  `${what}${values.length === 1 ? '' : 's'} ${values.join(', ')}`

const stageTable = (summary: RunSummary): string => {
  const stages = STAGES.flatMap((stage) => {
    const times = summary.stages[stage]
    return times === undefined
      ? []
      : [[stage, fixed(times.p50Us), fixed(times.p95Us), times.provenance ?? 'measured']]
  })
  // A run in which all was measured needs no words for it.
  const labelled = stages.some(([, , , source]) => source !== 'measured')
  return textTable(
    ['stage', 'p50 us', 'p95 us', ...(labelled ? ['source'] : [])],
    labelled ? stages : stages.map((row) => row.slice(0, 3)),
  ).replace(/^/gm, '  ')
}

const percentiles = ({ p50, p95 }: RunSummary['stepMs']): string =>
  `p50 ${fixed(p50)} ms, p95 ${fixed(p95)} ms`

const observerText = ({ tracedUs, untracedUs }: NonNullable<RunSummary['observerCost']>): string => {
  const percent = (100 * (tracedUs - untracedUs)) / untracedUs
  return `${percent < 0 ? '' : '+'}${percent.toFixed(1)}% of a step (${fixed(tracedUs)} us traced, ${fixed(untracedUs)} us untraced)`
}

const kernelText = (trace: NonNullable<RunSummary['kernelTrace']>): string => {
  const { steps, kernels, recordedUs, plainUs, counted } = trace
  const recorded = `${grouped(kernels)} recorded in ${steps} ${steps === 1 ? 'step' : 'steps'} by CUPTI`
  const cost = plainUs === undefined ? '' : ` instead of ${fixed(plainUs)} us`
  return `${recorded}, which then took ${fixed(recordedUs)} us${cost}${counted ? ' and count above' : ' and do not count above'}`
}

/** What stands beside a number that was not measured as it is. */
const label = (provenance: Provenance | null): string =>
  provenance === null || provenance === 'measured' ? '' : ` (${provenance})`

const checkText = (check: RunSummary['check']): string => {
  const failure = failedByNan(check) ? 'FAILED by NaN in merged rows' : 'FAILED'
  if (check.maxRelErr === null) return check.ok ? 'nothing was checked' : `${failure}, nothing was compared`
  const verdict = check.ok ? 'ok' : failure
  return (
    `${verdict}, ${grouped(check.checkedRows)} (row, head) pairs against the fp64 reference, ` +
    `largest relative error ${errorText(check.maxRelErr)} (allowed ${check.tolerance.toExponential(0)})`
  )
}

const draftText = ({ proposed, accepted, tolerance }: NonNullable<RunSummary['draft']>): string =>
  `${grouped(accepted)} of ${grouped(proposed)} proposed tokens count as accepted (a proxy: its output is within ${tolerance.toExponential(0)} of its reference)`

export const progressText = ({
  steps,
  totalSteps,
  tokensPerSecond,
  lastStepMs,
  maxRelErr,
  provenance,
}: Progress): string =>
  [
    `step ${steps}/${totalSteps}`,
    `${rate(tokensPerSecond)}${label(provenance)}`,
    `${fixed(lastStepMs)} ms a step${label(provenance)}`,
    ...(maxRelErr === null ? [] : [`relative error ${errorText(maxRelErr, 1)}`]),
  ].join('  ')

const rate = (tokensPerSecond: number): string =>
  `${tokensPerSecond >= 100 ? grouped(Math.round(tokensPerSecond)) : fixed(tokensPerSecond)} tokens/s`

const fixed = (n: number): string => n.toFixed(n >= 100 ? 0 : n >= 10 ? 1 : 2)

const grouped = (n: number): string => n.toLocaleString('en-US')
