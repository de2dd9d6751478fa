import { checkConfig } from '../backends/check.ts'
import { profileNamed } from '../backends/index.ts'
import { faultNamed } from '../faults/index.ts'
import type { Manifest } from '../trace/manifest.ts'
import type { Severity } from '../trace/stages.ts'

/** Something worth a look that is true of the whole run and of no step: `what` in a word or two, then a sentence. */
export interface RunNote {
  readonly kind: 'end' | 'guard' | 'fault' | 'capture' | 'kernels' | 'dropped'
  readonly severity: Severity
  readonly what: string
  readonly text: string
}

const listed = (numbers: readonly number[] | 'all' | undefined, noun: string): string =>
  numbers === undefined || numbers === 'all'
    ? `all ${noun}s`
    : `${noun}${numbers.length === 1 ? '' : 's'} ${rangesText(numbers)}`

/** `3, 5 to 9`. */
const rangesText = (numbers: readonly number[]): string => {
  const ranges: [number, number][] = []
  for (const n of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && n <= last[1] + 1) last[1] = n
    else ranges.push([n, n])
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`)).join(', ')
}

/** How it ended where that was not well, what its back-end refuses or replaces, faults that were injected, and what it could not record. */
export const runNotes = (manifest: Manifest): RunNote[] => {
  const { status, error, config, captureNotes, kernelNote, summary } = manifest
  const guards =
    profileNamed(config.serving.backend).framework === 'dcpscope' ? [] : checkConfig(config).reasons
  return [
    ...(status === 'failed' || status === 'interrupted'
      ? [{ kind: 'end', severity: 'error', what: status, text: error ?? 'Nothing says why.' } as const]
      : []),
    ...(summary !== undefined && summary.dropped > 0
      ? [
          {
            kind: 'dropped',
            severity: 'error',
            what: 'rows dropped',
            text: `${summary.dropped} rows of the trace were lost.`,
          } as const,
        ]
      : []),
    ...guards
      .filter(({ verdict }) => verdict !== 'accepted')
      .map(
        ({ verdict, rule, message }): RunNote => ({
          kind: 'guard',
          severity: verdict === 'refused' ? 'error' : 'warning',
          what: `${config.serving.backend}: ${verdict}`,
          text: `${rule}: ${message}`,
        }),
      ),
    ...config.faults.map(
      ({ fault, ranks, layers, steps }): RunNote => ({
        kind: 'fault',
        severity: 'warning',
        what: `fault ${fault}`,
        text: `Injected on ${listed(ranks, 'rank')}, ${listed(layers, 'layer')}, ${listed(steps, 'step')}. ${faultNamed(fault).summary}`,
      }),
    ),
    ...(captureNotes ?? []).map(
      (text): RunNote => ({ kind: 'capture', severity: 'warning', what: 'capture not whole', text }),
    ),
    ...(kernelNote === undefined
      ? []
      : [{ kind: 'kernels', severity: 'warning', what: 'kernels not recorded', text: kernelNote } as const]),
  ]
}
