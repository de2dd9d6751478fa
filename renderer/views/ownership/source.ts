import { type LayoutRequest, parseLayout } from '../../../app/dcp/layout.ts'
import type { RunConfig } from '../../../app/run/config.ts'
import { contextLens, lengthAtStep, restarts } from '../../../app/run/engine-config.ts'
import { type ConfigIssue, issueText } from '../../../app/run/parse.ts'
import type { CalculatorFields } from '../../state/calculator.ts'

/** What the view shows: one request of `len` tokens on `dcp` ranks, or why it shows nothing. */
export type Source =
  | { readonly ok: true; readonly layout: LayoutRequest }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] }

export const sourceOfFields = (fields: CalculatorFields & { readonly prompt?: number }): Source => {
  const parsed = parseLayout(fields)
  return parsed.ok ? { ok: true, layout: parsed.request } : { ok: false, issues: parsed.issues }
}

export const sourceText = (issues: readonly ConfigIssue[]): string => issues.map(issueText).join('; ')

/** The layout of one request of a run at one step. */
export const sourceOfRun = (config: RunConfig, request: number, step: number): Source =>
  sourceOfFields({
    len: lengthAtStep(config, request, step),
    dcp: config.parallel.dcpSize,
    interleave: config.parallel.interleave,
    page: config.cache.pageSize,
    ...(restarts(config) ? { prompt: contextLens(config)[request] ?? 0 } : {}),
  })

/** A place among `count`, or else the other one. */
export const inRange = (x: number | null, count: number, otherwise: number): number =>
  Math.min(Math.max(0, x ?? otherwise), Math.max(0, count - 1))

const numberAt = (value: unknown, path: readonly string[]): number | undefined => {
  let at = value
  for (const key of path) at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined
  return typeof at === 'number' ? at : undefined
}

/** Calculator fields from a draft of a run configuration; what it leaves open gets the default. */
export const fieldsOfDraft = (draft: unknown): CalculatorFields => {
  const contexts = numberAt(draft, ['workload', 'requests', '0', 'contextLen'])
  return {
    len: Math.max(1, contexts ?? 1000),
    dcp: numberAt(draft, ['parallel', 'dcpSize']) ?? 4,
    interleave: numberAt(draft, ['parallel', 'interleave']) ?? 1,
    page: numberAt(draft, ['cache', 'pageSize']) ?? 64,
  }
}

/** Token that a person asked for: a position, or counted from the end when negative. Null when there is none. */
export const tokenFromText = (text: string, len: number): number | null => {
  const digits = text.replace(/[\s_.,\u2009]/g, '')
  if (!/^-?\d{1,15}$/.test(digits)) return null
  const value = Number(digits)
  const token = digits.startsWith('-') ? len + value : value
  return token >= 0 && token < len ? token : null
}
