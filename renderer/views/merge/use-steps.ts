import { useEffect, useState } from 'react'
import type { VectorError } from '../../../app/lse/error.ts'
import { vectorError } from '../../../app/lse/error.ts'
import { mergeLse, mergeWeights } from '../../../app/lse/merge.ts'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { request } from '../../state/store-client.ts'
import type { CaptureShape, MergeInput } from './model.ts'

/** How a row and head was merged at one captured step. */
export interface StepMerge {
  readonly step: number
  readonly weights: Float64Array
  readonly lse: number
  readonly error: VectorError | null
}

/** Steps that are read at most; more are thinned evenly. */
const MOST = 64

/** Captured steps of a layer, in order, at most MOST. */
export const stepsOf = (captures: RunInfo['captures'], layer: number): readonly number[] => {
  const all = captures.filter((capture) => capture.layer === layer).map(({ step }) => step)
  const every = Math.max(1, Math.ceil(all.length / MOST))
  return all.toSorted((a, b) => a - b).filter((_, i) => i % every === 0)
}

export const stepMerge = (
  step: number,
  { lse, merged, reference }: MergeInput,
  base: CaptureShape['lseBase'],
): StepMerge => ({
  step,
  weights: mergeWeights(lse, base),
  lse: mergeLse(lse, base),
  error: reference === null ? null : vectorError(merged, reference),
})

interface At {
  readonly layer: number
  readonly row: number
  readonly head: number
}

/** The same row and head at every captured step of its layer; null while it is read. */
export const useSteps = (
  run: RunInfo,
  { layer, row, head }: At,
  base: CaptureShape['lseBase'],
): { readonly steps: readonly StepMerge[] | null; readonly error: string | null } => {
  const [kept, setKept] = useState<{
    readonly key: string
    readonly steps: readonly StepMerge[] | null
    readonly error: string | null
  } | null>(null)
  const wanted = stepsOf(run.captures, layer)
  const key = `${run.id} ${layer} ${row} ${head} ${base} ${wanted.join()}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key names everything that is asked
  useEffect(() => {
    const unwanted = new AbortController()
    Promise.all(
      wanted.map(async (step) =>
        stepMerge(
          step,
          await request('mergeRow', { run: run.id, step, layer, row, head }, { signal: unwanted.signal }),
          base,
        ),
      ),
    ).then(
      (steps) => setKept({ key, steps, error: null }),
      (error: unknown) => {
        if (!unwanted.signal.aborted)
          setKept({ key, steps: null, error: error instanceof Error ? error.message : String(error) })
      },
    )
    return () => unwanted.abort()
  }, [key])
  return kept?.key === key ? kept : { steps: null, error: null }
}
