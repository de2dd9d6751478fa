import { diagnose } from '../../../app/diagnosis/diagnose.ts'
import type { Reference } from '../../../app/diagnosis/reference.ts'
import type { Diagnosis } from '../../../app/diagnosis/result.ts'
import type { NativeAddon } from '../../../main/engine/addon.ts'
import { captureMetadata } from '../../../main/engine/captures.ts'
import type { Drawn } from './draw.ts'
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
  /** A fault whose tensors are not there: said so, found all the same, or another one named. */
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
  const named = first?.fault === fault
  const among = first?.ambiguousWith.some((other) => other === fault) === true
  const outcome = ((): Outcome => {
    if (fault === undefined || !changed) return first === undefined ? 'healthy' : 'false alarm'
    if (named) return first?.ambiguousWith.length === 0 ? 'right' : 'ambiguous'
    if (among) return 'ambiguous'
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
    diagnosis,
  }
}

/** Whether any tensor that the dump keeps, or what it says of the base, is another one than without the fault. */
const differs = (a: Captured, b: Captured, { keeps, metadata }: Drawn): boolean =>
  a.captures.some((capture) => {
    const other = b.captures.find(
      ({ rank, step, layer }) => rank === capture.rank && step === capture.step && layer === capture.layer,
    )
    if (other === undefined || capture.rank < 0) return false
    const kept = capture.tensors.filter(({ name }) => keeps(capture, name))
    const saysBase = kept.length > 0 && !('lse_base' in metadata)
    if (saysBase && captureMetadata(a.config, capture).lse_base !== captureMetadata(b.config, other).lse_base)
      return true
    return kept.some((tensor) => {
      const twin = other.tensors.find(({ name }) => name === tensor.name)
      return twin === undefined || Buffer.compare(Buffer.from(tensor.data), Buffer.from(twin.data)) !== 0
    })
  })
