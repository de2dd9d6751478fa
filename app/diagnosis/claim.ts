import type { FaultName } from '../faults/names.ts'
import type { Evidence } from './result.ts'

/** What one site says of one fault in one case; findings are put together from these. */
export interface Claim {
  readonly fault: FaultName
  readonly confidence: number
  readonly explained: number
  /** With repetitions, in any order. */
  readonly ranks: readonly number[]
  readonly rows: readonly number[]
  readonly heads: readonly number[]
  readonly summary: string
  readonly evidence: Evidence
  /** Faults that explain the same as well. */
  readonly rivals: readonly FaultName[]
  /** It leaves nothing but rounding, which no other weights of partials would. */
  readonly isExact?: boolean
  /** Only rows without tokens show it, which nobody reads; it comes behind what real rows show. */
  readonly ofPadding?: boolean
}
