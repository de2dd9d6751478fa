import type { Diagnosis, Finding } from '../../../app/diagnosis/result.ts'
import { formatPercent, formatValue } from '../../drawing/format.ts'
import type { Selection } from '../../state/selection.ts'

type EvidenceNumber = Finding['evidence']['numbers'][number]

/** Entries of a list that are shown. */
const LISTED = 12

export interface Listed {
  readonly shown: readonly number[]
  readonly more: number
}

/** The first of a list, and how many there are behind them; `count` where the list itself was cut. */
export const listed = (values: readonly number[], count = values.length): Listed => {
  const shown = values.slice(0, LISTED)
  return { shown, more: Math.max(0, count - shown.length) }
}

/** A place of a finding among others; what it leaves out is the first one. */
export type At = Partial<Pick<Selection, 'step' | 'layer' | 'head'>> & { readonly row?: number }

/** What is selected when one looks at where a finding shows: the first of each that it names. */
export const selectionOf = ({ ranks, steps, layers, heads }: Finding): Partial<Selection> => {
  const [step] = steps
  const [layer] = layers
  const [rank] = ranks
  const [head] = heads
  return {
    ...(step === undefined ? {} : { step }),
    ...(layer === undefined ? {} : { layer }),
    ...(rank === undefined ? {} : { rank }),
    ...(head === undefined ? {} : { head }),
  }
}

/** A number of the evidence with its unit. */
export const evidenceText = ({ value, unit }: EvidenceNumber): string => {
  if (value !== null && unit === 'share') return formatPercent(value)
  return `${value === null ? 'not finite' : formatValue(value)}${unit === undefined ? '' : `\u2009${unit}`}`
}

export const expectedText = ({ expected, unit }: EvidenceNumber): string =>
  expected === undefined ? '' : evidenceText({ name: '', value: expected, unit })

/** `97.0 % sure, explains 99.3 % of the error`. */
export const worthText = ({ confidence, explained }: Finding): string =>
  `${formatPercent(confidence)} sure, explains ${formatPercent(explained)} of the error`

/** How each verdict looks, as badges are coloured. */
export const VERDICT_TONES: Readonly<Record<Diagnosis['verdict'], 'ok' | 'bad' | 'warn'>> = {
  healthy: 'ok',
  faulty: 'bad',
  undetermined: 'warn',
}

/** What a person does next, in one sentence for each verdict. */
export const nextText = ({ verdict, findings, notChecked }: Diagnosis): string => {
  switch (verdict) {
    case 'healthy':
      return notChecked.length === 0
        ? 'Every known failure was looked for. The cause of a bad output lies elsewhere, or in steps that were not dumped.'
        : `${notChecked.length} known ${notChecked.length === 1 ? 'failure' : 'failures'} could not be looked for; what that needs stands below.`
    case 'faulty':
      return findings.length === 1
        ? 'One cause was found.'
        : `${findings.length} causes were found, best first: by how much of the error each explains.`
    case 'undetermined':
      return notChecked.length === 0
        ? 'What was seen stands below; none of the known failures leaves it like that.'
        : 'What would decide stands below: record it and diagnose again.'
  }
}
