import { localLength } from '../../../app/dcp/ownership.ts'
import { diagnose } from '../../../app/diagnosis/diagnose.ts'
import type { Reference } from '../../../app/diagnosis/reference.ts'
import type { Diagnosis } from '../../../app/diagnosis/result.ts'
import { decodeValues } from '../../../app/dump/values.ts'
import { cleanLse } from '../../../app/lse/base.ts'
import { vectorError } from '../../../app/lse/error.ts'
import type { RunConfig } from '../../../app/run/config.ts'
import { acceptedPerStep, contextLens } from '../../../app/run/engine-config.ts'
import type { NativeAddon, NativeTensor } from '../../../main/engine/addon.ts'
import { captureMetadata } from '../../../main/engine/captures.ts'
import { type Ambiguity, ambiguityOf } from './ambiguity.ts'
import { type Drawn, PADDED } from './draw.ts'
import { type Captured, capturedRun, dumpsOf } from './engine-dumps.ts'

/** Multiply-adds of the reference for one case. */
const REFERENCE_WORK = 1e9

/** What came of a case. */
export type Outcome =
  /** No fault, or one that changed no tensor of the dump: rightly or wrongly said to be there. */
  | 'healthy'
  | 'false alarm'
  /** A fault whose tensors are there: named first, named as one of at most three, as another, or not. */
  | 'right'
  | 'ambiguous'
  | 'wrong'
  | 'missed'
  /** A fault whose tensors are not there, or that changed nothing beyond rounding: said so, found all the same, or another one named. */
  | 'not checked'
  | 'found anyway'
  | 'wrong, undecidable'
  | 'not listed'

export interface Trial {
  readonly seed: number
  readonly fault: string
  readonly outcome: Outcome
  readonly first: string
  readonly ambiguousWith: readonly string[]
  readonly verdict: Diagnosis['verdict']
  /** Of an ambiguous outcome: whether the tensors really cannot decide. */
  readonly ambiguity?: Ambiguity
}

export const trial = async (
  addon: Pick<NativeAddon, 'createRun'>,
  reference: Reference,
  drawn: Drawn,
): Promise<Trial & { diagnosis: Diagnosis }> => {
  const { config, fault, keeps, metadata, seed } = drawn
  const captured = await capturedRun(addon, config)
  const changed =
    fault === undefined
      ? false
      : differs(captured, await capturedRun(addon, { ...config, faults: [] }), drawn)
  const set = await dumpsOf(captured, { keep: keeps, metadata })
  const diagnosis = await diagnose(set, { reference, referenceWork: REFERENCE_WORK })
  const [first] = diagnosis.findings
  const listed = diagnosis.notChecked.some((one) => one.fault === fault)
  const named =
    first?.fault === fault ||
    (fault === 'pad-row-garbage' && diagnosis.information.some(({ kind }) => kind === 'pad-row-garbage'))
  const among = first?.ambiguousWith.some((other) => other === fault) === true
  const outcome = ((): Outcome => {
    if (fault === undefined || !changed)
      // What a fault leaves below rounding may still show.
      return first === undefined ? 'healthy' : named && fault !== undefined ? 'found anyway' : 'false alarm'
    if (named) return (first?.ambiguousWith.length ?? 0) === 0 ? 'right' : 'ambiguous'
    if (among) return 'ambiguous'
    // An lse in bf16 whose effect is below the rounding of the output is said, and is no fault.
    const isSaid = fault === 'lse-low-precision' && diagnosis.information.some(({ kind }) => kind === fault)
    if (isSaid && first === undefined) return 'healthy'
    if (!listed) return first === undefined ? 'missed' : 'wrong'
    return first === undefined ? 'not checked' : 'wrong, undecidable'
  })()
  return {
    seed,
    fault: fault ?? 'healthy',
    outcome,
    first: first?.fault ?? 'none',
    ambiguousWith: first?.ambiguousWith ?? [],
    verdict: diagnosis.verdict,
    ...(outcome === 'ambiguous' && fault !== undefined && first !== undefined
      ? { ambiguity: await ambiguityOf(set, first, fault) }
      : {}),
    diagnosis,
  }
}

/**
 * Whether any tensor that the dump keeps, or what it says of the base, is another one than without the fault. A cache that is
 * dealt out otherwise, each token once, gives the same result: of that only slots, keys that are missing and the result count.
 */
const differs = (a: Captured, b: Captured, { keeps, metadata, fault }: Drawn): boolean =>
  a.captures.some((capture) => {
    const other = b.captures.find(
      ({ rank, step, layer }) => rank === capture.rank && step === capture.step && layer === capture.layer,
    )
    if (other === undefined || capture.rank < 0) return false
    const kept = capture.tensors.filter(({ name }) => keeps(capture, name))
    const saysBase = kept.length > 0 && !('lse_base' in metadata)
    if (saysBase && captureMetadata(a.config, capture).lse_base !== captureMetadata(b.config, other).lse_base)
      return true
    const ofCache = fault === 'interleave-mismatch' && a.config.faults[0]?.params?.of === 'cache'
    // Rows of padding mean nothing, unless the fault is about them.
    const isOfPadding = PADDED.some((one) => one === fault)
    const rows = isOfPadding
      ? Number.POSITIVE_INFINITY
      : contextLens(a.config).length * a.config.workload.qLen
    return kept.some((tensor) => {
      const twin = other.tensors.find(({ name }) => name === tensor.name)
      if (twin === undefined) return true
      switch (tensor.name) {
        case 'lse':
        case 'lse_kernel':
          return !ofCache && !sameLse(tensor, twin, rows)
        case 'out':
        case 'out_kernel':
          return !ofCache && isFar(tensor, twin, rows)
        case 'merged':
          return isFar(tensor, twin, rows)
        case 'kv':
        case 'kv_k':
        case 'kv_v':
          return ofCache ? lacksRows(tensor, twin) : !sameBytes(tensor, twin)
        case 'block_table':
          return !sameTable(a, capture.rank, tensor, twin)
        case 'slot_mapping':
        case 'topk':
        case 'topk_local':
        case 'topk_slots':
          return !sameBytes(tensor, twin, rows)
        default:
          return !sameBytes(tensor, twin)
      }
    })
  })

/** The first `rows` rows are the same. */
const sameBytes = (a: NativeTensor, b: NativeTensor, rows = Number.POSITIVE_INFINITY): boolean => {
  const part = ({ data, shape: [all = 1] }: NativeTensor): Buffer =>
    Buffer.from(data).subarray(0, (data.byteLength / all) * Math.min(rows, all))
  return Buffer.compare(part(a), part(b)) === 0
}

/** Whether a row of a cache is all zeros where the other one has a key. */
const lacksRows = (a: NativeTensor, b: NativeTensor): boolean => {
  const [pages = 0, page = 0] = a.shape
  const size = a.data.byteLength / Math.max(1, pages * page)
  const isEmpty = ({ data }: NativeTensor, row: number): boolean =>
    new Uint8Array(data, row * size, size).every((byte) => byte === 0)
  return Array.from({ length: pages * page }, (_, row) => row).some(
    (row) => isEmpty(a, row) && !isEmpty(b, row),
  )
}

/** What rounding makes of a result, as a share of it. */
const ROUNDING = 4e-3

/** Whether a row and head of the batch itself (not of its padding) differs by more than rounding. */
const isFar = (a: NativeTensor, b: NativeTensor, rows: number): boolean => {
  const [, heads = 0, width = 0] = a.shape
  const [own, twin] = [valuesOf(a), valuesOf(b)]
  for (let head = 0; head < Math.min(rows * heads, own.length / width); head++) {
    const [from, to] = [head * width, (head + 1) * width]
    const { relative, maxAbs } = vectorError(own.subarray(from, to), twin.subarray(from, to))
    if (relative > ROUNDING || (Number.isNaN(maxAbs) && !twin.subarray(from, to).some(Number.isNaN)))
      return true
  }
  return false
}

/** Infinities and NaN all say that there are no keys; a difference of lse is a share of a weight. */
const sameLse = (a: NativeTensor, b: NativeTensor, rows: number): boolean => {
  const [own, twin] = [valuesOf(a), valuesOf(b)]
  return own.subarray(0, rows * (a.shape[1] ?? 0)).every((value, i) => {
    const [x, y] = [cleanLse(value), cleanLse(twin[i] ?? 0)]
    return x === y || Math.abs(x - y) < ROUNDING
  })
}

/** Columns in which a rank has keys of a request after the last step. */
const neededColumns = (config: RunConfig, rank: number, request: number): number => {
  const { workload, parallel, cache } = config
  const accepted = acceptedPerStep(config)
  const length = (contextLens(config)[request] ?? 0) + (workload.steps - 1) * accepted + workload.qLen
  const sharding = { dcp: parallel.dcpSize, interleave: parallel.interleave }
  return request < contextLens(config).length
    ? Math.ceil(localLength(length, rank, sharding) / cache.pageSize)
    : 0
}

/** Columns beyond those of a request mean nothing, unless they are read, which shows elsewhere. */
const sameTable = ({ config }: Captured, rank: number, a: NativeTensor, b: NativeTensor): boolean => {
  const [requests = 0, columns = 0] = a.shape
  const width = b.shape[1] ?? 0
  const [own, twin] = [valuesOf(a), valuesOf(b)]
  if (config.faults[0]?.fault === 'page-table-not-local') return false
  for (let request = 0; request < requests; request++)
    for (let column = 0; column < neededColumns(config, rank, request); column++) {
      const right = twin[request * width + column] ?? -1
      if (right >= 0 && (column < columns ? own[request * columns + column] : -1) !== right) return false
    }
  return true
}

const valuesOf = ({ data, dtype }: NativeTensor): Float64Array => decodeValues(new Uint8Array(data), dtype)
