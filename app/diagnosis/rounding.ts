import type { Dtype } from '../dump/safetensors.ts'
import type { Case } from './case.ts'

/** Most that rounding to a type changes, as a share of a value. */
const HALF_STEP: Readonly<Partial<Record<Dtype, number>>> = {
  F32: 2 ** -25,
  F16: 2 ** -12,
  BF16: 2 ** -9,
  F8_E4M3: 2 ** -4,
  F8_E5M2: 2 ** -3,
}

/** The least of an engine's arithmetic, which is fp32 at best and sums up many values. */
const LEAST = 1e-5

/** What rounding and arithmetic make of an output that is dumped as `name`, as a share of it; of any output where there is none. */
export const roundingOf = (c: Case, ...names: readonly string[]): number => {
  for (const name of names)
    for (const { dump } of c.ranks)
      if (dump.reader.has(name))
        return Math.max(LEAST, 1.3 * (HALF_STEP[dump.reader.tensor(name).dtype] ?? 0))
  return 1.3 * 2 ** -9
}
