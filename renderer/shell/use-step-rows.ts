import type { RunInfo, StoreResult } from '../../app/protocol/store.ts'
import type { Caveats } from '../../app/trace/caveat.ts'
import { acceptedText, DRAFT_PROXY } from '../drawing/draft.ts'
import { formatInt, formatNs, formatRate, formatSci } from '../drawing/format.ts'
import { sourceOfCode, stepNote } from '../drawing/provenance.ts'
import { useSelection } from '../state/selection.ts'
import { useAnswer } from '../state/use-answer.ts'
import type { InspectorRow } from './Inspector.tsx'

/** What became of the tokens of a draft, where there is one. */
export const draftRows = ({ proposed, accepted }: { proposed: number; accepted: number }): InspectorRow[] =>
  proposed < 0
    ? []
    : [
        {
          label: 'draft accepted',
          value: acceptedText(accepted, proposed),
          copy: `${accepted} of ${proposed}`,
          note: DRAFT_PROXY,
        },
      ]

/** What the inspector says of `step`, where `steps` begins with it; nothing where the step was not traced (yet). */
export const stepRows = (steps: StoreResult<'steps'>, step: number, manifest: Caveats): InspectorRow[] => {
  const [found, startNs, wallNs, deviceNs, untracedNs, rate, error, checked] = [
    steps.step[0],
    steps.startNs[0],
    steps.wallNs[0],
    steps.deviceNs[0],
    steps.untracedNs[0],
    steps.tokensPerSecond[0],
    steps.maxRelErr[0],
    steps.checkedRows[0],
  ]
  if (found !== step || startNs === undefined || wallNs === undefined || rate === undefined) return []
  const source = stepNote(sourceOfCode(steps.provenance[0]), manifest)
  const wasChecked = error !== undefined && !Number.isNaN(error)
  return [
    { label: 'step', value: formatInt(step), copy: String(step) },
    { label: 'start', value: `${formatInt(startNs)}\u2009ns`, copy: String(startNs) },
    { label: 'duration', value: formatNs(wallNs), copy: String(wallNs), source },
    ...(deviceNs === undefined || deviceNs === wallNs
      ? []
      : [{ label: 'device', value: formatNs(deviceNs), copy: String(deviceNs), note: 'for all ranks' }]),
    ...(untracedNs === undefined || Number.isNaN(untracedNs)
      ? []
      : [
          {
            label: 'untraced',
            value: formatNs(untracedNs),
            copy: String(untracedNs),
            note: 'device, tracing off',
          },
        ]),
    { label: 'throughput', value: formatRate(rate), copy: String(rate), note: 'tokens/s', source },
    ...(steps.graphReplayed[0] === 1 ? [{ label: 'graph', value: 'replayed' }] : []),
    ...(steps.kernelTrace[0] === 1 ? [{ label: 'kernels', value: 'CUPTI was on', note: 'slower' }] : []),
    ...(wasChecked ? [{ label: 'largest error', value: formatSci(error), copy: String(error) }] : []),
    { label: 'checked rows', value: formatInt(checked ?? 0), copy: String(checked ?? 0) },
    ...draftRows({ proposed: steps.draftProposed[0] ?? -1, accepted: steps.draftAccepted[0] ?? -1 }),
  ]
}

/** The numbers of the selected step, whatever view it was selected in. */
export const useStepRows = (run: RunInfo | null): InspectorRow[] => {
  const step = useSelection((s) => s.step)
  const asked = run === null || step === null ? null : { run: run.id, from: step, max: 1 }
  // A step of a run in progress is asked for again once it is there.
  const { answer } = useAnswer(
    'steps',
    asked,
    run !== null && step !== null && step < run.steps ? 'traced' : '',
  )
  return run === null || answer === null || asked === null || answer.params.run !== asked.run
    ? []
    : stepRows(answer.data, asked.from, run.manifest)
}
