import { diagnose } from '../../../app/diagnosis/diagnose.ts'
import type { Diagnosis } from '../../../app/diagnosis/result.ts'
import { decodeValues } from '../../../app/dump/values.ts'
import type { RunConfigInput } from '../../../app/run/config.ts'
import { parseRunConfig } from '../../../app/run/parse.ts'
import type { NativeCapture, NativeTensor } from '../../../main/engine/addon.ts'
import { type Captured, type Change, capturedRun, dumpsOf } from '../../bench/diagnosis/engine-dumps.ts'
import { addon } from '../../native/engine.ts'

/** A run of four ranks with short, middling and empty shards, and what it captured. */
export const healthyRun = (over: RunConfigInput = {}): Promise<Captured> => {
  const parsed = parseRunConfig({
    model: { heads: 16, kvLoraRank: 64, ropeDim: 16, layers: 1, ...over.model },
    parallel: { tpSize: 4, dcpSize: 4, ...over.parallel },
    cache: { pageSize: 16, kvDtype: 'bf16', ...over.cache },
    workload: {
      requests: [{ contextLen: 200 }, { contextLen: 1 }, { contextLen: 77 }],
      steps: 1,
      warmup: 0,
      ...over.workload,
    },
    engine: { device: 'cpu', ...over.engine },
    check: { rows: 'none' },
    faults: over.faults,
  })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return capturedRun(addon, parsed.config)
}

/** Values of a tensor, changed by `change`, in the place of its own; `ranks` only. */
export const altered = (
  captured: Captured,
  name: string,
  change: (values: Float64Array, capture: NativeCapture) => Float64Array,
  ranks?: readonly number[],
): Captured => ({
  ...captured,
  captures: captured.captures.map((capture) => ({
    ...capture,
    tensors: capture.tensors.map((tensor) =>
      tensor.name !== name || capture.rank < 0 || ranks?.includes(capture.rank) === false
        ? tensor
        : { ...tensor, data: encoded(tensor, change(valuesOf(tensor), capture)) },
    ),
  })),
})

export const valuesOf = ({ data, dtype }: NativeTensor): Float64Array =>
  decodeValues(new Uint8Array(data), dtype)

export const tensorOf = (captured: Captured, rank: number, name: string): NativeTensor => {
  const found = captured.captures
    .find((capture) => capture.rank === rank)
    ?.tensors.find((tensor) => tensor.name === name)
  if (found === undefined) throw new Error(`rank ${rank} has no ${name}`)
  return found
}

const encoded = ({ dtype }: NativeTensor, values: Float64Array): ArrayBuffer => {
  switch (dtype) {
    case 'F32':
      return Float32Array.from(values).buffer
    case 'I32':
      return Int32Array.from(values).buffer
    case 'I64':
      return BigInt64Array.from([...values].map(BigInt)).buffer
    case 'BF16': {
      // Rounded to nearest even, as engines do.
      const bits = new Uint32Array(Float32Array.from(values).buffer)
      return Uint16Array.from(bits, (raw) => (raw + 0x7fff + ((raw >>> 16) & 1)) >>> 16).buffer
    }
    default:
      throw new Error(`no values of ${dtype} are made here`)
  }
}

/** What a diagnosis with the native reference says. */
export const diagnosed = async (captured: Captured, change?: Change): Promise<Diagnosis> =>
  diagnose(await dumpsOf(captured, change), { reference: addon, allRows: true })

/** The first finding in short: fault, ranks. */
export const firstOf = ({ findings: [first] }: Diagnosis): { fault: string; ranks: readonly number[] } =>
  first === undefined ? { fault: 'none', ranks: [] } : { fault: first.fault, ranks: first.ranks }

/** Leaves tensors out. */
export const without = (...names: string[]): Change => ({ keep: (_, name) => !names.includes(name) })
