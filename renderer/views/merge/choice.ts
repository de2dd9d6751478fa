import type { RunConfig } from '../../../app/run/config.ts'

/** A captured step and layer. */
export interface CaptureKey {
  readonly step: number
  readonly layer: number
}

/** Which capture the view shows for what is selected, or what is missing and could be run again for. */
export type Choice =
  | { readonly kind: 'captured'; readonly key: CaptureKey }
  | { readonly kind: 'missing'; readonly wanted: CaptureKey; readonly nearest: CaptureKey | null }

const distance = (a: CaptureKey, b: CaptureKey): number =>
  Math.abs(a.step - b.step) * 1024 + Math.abs(a.layer - b.layer)

/**
 * Without a selected step the newest capture is shown; without a selected layer any layer of the step will do.
 * `lastStep`: the step that is meant when nothing is selected and nothing was captured.
 */
export const chosenCapture = (
  captures: readonly CaptureKey[],
  step: number | null,
  layer: number | null,
  lastStep: number,
): Choice => {
  const fits = captures.filter(
    (c) => (step === null || c.step === step) && (layer === null || c.layer === layer),
  )
  const newest = fits.reduce<CaptureKey | null>(
    (best, c) =>
      best === null || c.step > best.step || (c.step === best.step && c.layer < best.layer) ? c : best,
    null,
  )
  if (newest !== null) return { kind: 'captured', key: newest }
  const wanted = { step: step ?? lastStep, layer: layer ?? 0 }
  const nearest = captures.reduce<CaptureKey | null>(
    (best, c) => (best === null || distance(c, wanted) < distance(best, wanted) ? c : best),
    null,
  )
  return { kind: 'missing', wanted, nearest }
}

/** Whether a run of this configuration keeps the tensors of a step and layer when it gets there. */
export const willCapture = (config: RunConfig, { step, layer }: CaptureKey): boolean => {
  const { steps, layers } = config.capture
  const kept =
    steps === 'last' ? step === config.workload.steps - 1 : steps !== 'none' && steps.includes(step)
  return kept && layers.includes(layer)
}

/** Rows of a capture: which request and query token each is. */
export interface RowNames {
  readonly request: ArrayLike<number>
  readonly qIndex: ArrayLike<number>
}

/** Row of the selected request and query index; the first that fits, else row 0. */
export const chosenRow = (names: RowNames, request: number | null, qIndex: number | null): number => {
  for (let row = 0; row < names.request.length; row++)
    if (
      (request === null || names.request[row] === request) &&
      (qIndex === null || names.qIndex[row] === qIndex)
    )
      return row
  return 0
}

/** `x` kept within [0, count). */
export const within = (x: number, count: number): number => Math.min(Math.max(0, x), Math.max(0, count - 1))

/** Rows and heads that an arrow key moves by; null for other keys. */
export const arrowMove = (code: string): { readonly rows: number; readonly heads: number } | null => {
  switch (code) {
    case 'ArrowUp':
      return { rows: -1, heads: 0 }
    case 'ArrowDown':
      return { rows: 1, heads: 0 }
    case 'ArrowLeft':
      return { rows: 0, heads: -1 }
    case 'ArrowRight':
      return { rows: 0, heads: 1 }
    default:
      return null
  }
}
