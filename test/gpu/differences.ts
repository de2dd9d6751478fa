import { expect } from 'vitest'
import type { EngineFault } from '../../app/faults/engine.ts'
import { vectorError } from '../../app/lse/error.ts'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import type { NativeCapture } from '../../main/engine/addon.ts'
import { at, captureOf, column, type Finished, finish, tensorOf, valuesOf, worst } from '../native/engine.ts'
import { bytesOf, exactOf, valueWidth } from './agreement.ts'

/** In what captures of two runs differ, with and without faults, and what both devices may round apart. */

/** Largest difference of two log-sum-exps, and relative ones of two vectors of a partial and of two merged ones. */
const LSE = 2e-4
const OUT = 5e-3
const MERGED = 1e-2
/** An lse in bf16 may be rounded to a neighbour, which changes a weight by so much. */
const BF16_STEP = 2 ** -7
const STEP_OF_WEIGHT = 0.15

const roundsLse = ({ lseType, faults }: EngineConfig): boolean =>
  lseType === 'bf16' || faults.some((one) => one.fault === 'lse-low-precision')

/** Whether all values that are numbers are such as bf16 holds. */
const isOfBf16 = (values: Float64Array): boolean =>
  new Uint32Array(Float32Array.from(values.filter(Number.isFinite)).buffer).every(
    (bits) => (bits & 0xffff) === 0,
  )

type LeftOut = (row: number) => boolean

const lsesAgree = (a: Float64Array, b: Float64Array, rounds: boolean, leftOut: LeftOut): boolean =>
  isOfBf16(a) === isOfBf16(b) &&
  b.every((value, i) => {
    const step = rounds ? BF16_STEP * Math.abs(value) : 0
    return leftOut(i) || sameValue(at(a, i), value) || Math.abs(at(a, i) - value) < LSE + step
  })

/** Magnitude of an lse that no scores of a model reach. */
const FAR_LSE = 1e4

/** Rows that both devices computed from scales which are none, in numbers that overflow: each rounds them elsewhere. */
const nonsense = (a: Float64Array, b: Float64Array, { faults }: EngineConfig): LeftOut => {
  const isNonsense = (lse: number): boolean => !(Math.abs(lse) < FAR_LSE)
  return (row) =>
    faults.some((one) => one.fault === 'kv-layout-mismatch') &&
    isNonsense(at(a, row)) &&
    isNonsense(at(b, row))
}

const sameValue = (a: number, b: number): boolean => Object.is(a, b) || a === b

/** Row of [T, H] from which on rows hold the first split of their keys alone, which devices cut elsewhere. */
export const countedRows = (config: EngineConfig): number => {
  const rows = rowsOf(config)
  return config.faults.some((one) => one.fault === 'split-counter-undersized') ? rows / config.ranks : rows
}

const rowsOf = ({ contextLens, qLen, heads }: EngineConfig): number => contextLens.length * qLen * heads

/** Rows of `merged` that a rank has of the first `rows` of [T, H]. */
const mergedRows = ({ heads, ranks }: EngineConfig, rank: number, rows: number): number => {
  const own = heads / ranks
  const token = Math.floor(rows / heads)
  return token * own + Math.max(0, Math.min(own, rows - token * heads - rank * own))
}

/** Whether two rows agree: NaN and infinities at the same places, the others within a relative error. */
const rowsAgree = (a: Float64Array, b: Float64Array, relative: number): boolean =>
  b.every(Number.isFinite)
    ? vectorError(a, b).relative < relative
    : b.every(
        (value, i) =>
          Number.isFinite(value) === Number.isFinite(at(a, i)) &&
          (Number.isFinite(value) || sameValue(at(a, i), value)),
      )

const vectorsAgree = (
  a: Float64Array,
  b: Float64Array,
  width: number,
  relative: number,
  leftOut: LeftOut,
): boolean => {
  for (let from = 0; from < b.length; from += width)
    if (
      !leftOut(from / width) &&
      !rowsAgree(a.subarray(from, from + width), b.subarray(from, from + width), relative)
    )
      return false
  return true
}

/** Where two runs are compared: the first `rows` of [T, H], of a layer or else of the first captured one. */
interface Compared {
  readonly rows?: number
  readonly layer?: number
}

/** Tensors of the last captured step in which two runs of a configuration differ, as `lse of rank 2`. */
export const differences = (
  cuda: Finished,
  cpu: Finished,
  config: EngineConfig,
  { rows = rowsOf(config), layer }: Compared = {},
): string[] => {
  const differing: string[] = []
  const width = valueWidth(config)
  for (let rank = 0; rank < config.ranks; rank++) {
    const step = config.captureSteps.at(-1)
    const [own, other] = [captureOf(cuda, rank, step, layer), captureOf(cpu, rank, step, layer)]
    const note = (name: string, agrees: boolean): void => {
      if (!agrees) differing.push(`${name} of rank ${rank}`)
    }
    const shapesAgree = (name: string): boolean =>
      `${tensorOf(own, name).shape}` === `${tensorOf(other, name).shape}`
    for (const name of exactOf(config))
      note(name, shapesAgree(name) && bytesOf(own, name).equals(bytesOf(other, name)))
    const rounds = roundsLse(config)
    const firstOf = (capture: NativeCapture, name: string, width: number): Float64Array =>
      valuesOf(capture, name).subarray(0, (name === 'merged' ? mergedRows(config, rank, rows) : rows) * width)
    const leftOut = nonsense(valuesOf(own, 'lse'), valuesOf(other, 'lse'), config)
    for (const name of ['lse_kernel', 'lse'])
      note(name, lsesAgree(firstOf(own, name, 1), firstOf(other, name, 1), rounds, leftOut))
    for (const [name, relative, except] of [
      ['out_kernel', OUT, leftOut],
      ['out', OUT, leftOut],
      ['merged', rounds ? STEP_OF_WEIGHT : MERGED, () => false],
    ] as const)
      note(
        name,
        vectorsAgree(firstOf(own, name, width), firstOf(other, name, width), width, relative, except),
      )
  }
  return differing
}

/** Says how a case went, and fails where it did not go well. */
export const report = (name: string, differing: readonly string[]): void => {
  process.stdout.write(
    differing.length === 0 ? `ok      ${name}\n` : `differs ${name}: ${differing.join(', ')}\n`,
  )
  expect(differing, name).toEqual([])
}

/** Largest relative error that the check found; NaN where it found such. */
export const errorOf = (run: Finished): number => {
  const errors = column(run.chunks, 'steps', -1, 'max_rel_err')
  return errors.some(Number.isNaN) ? Number.NaN : worst(errors)
}

/** A run on a GPU, and the same on the CPU. */
export const onBoth = async (config: EngineConfig): Promise<readonly [cuda: Finished, cpu: Finished]> => [
  await finish({ ...config, device: 'cuda' }),
  await finish({ ...config, device: 'cpu', graph: false }),
]

/** A fault on four ranks. */
export const fault = (name: EngineFault['fault'], over: Partial<EngineFault> = {}): EngineFault => ({
  fault: name,
  ranks: [0, 1, 2, 3],
  layers: [],
  steps: [],
  draft: false,
  variant: 0,
  amount: 0,
  ...over,
})
