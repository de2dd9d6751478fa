import type { Guard } from './guard.ts'

/** Serving engines that are modelled; `dcpscope` is our own. */
export type Framework = 'dcpscope' | 'SGLang' | 'vLLM' | 'TensorRT-LLM'

export type LseBase = 'e' | '2'
export type Transport = 'ag_rs' | 'a2a' | 'p2p'
export type KvType = 'fp32' | 'bf16' | 'fp8' | 'fp8_ds_mla'
export type Arch = 'sm80' | 'sm90' | 'sm100'
/** What a kernel leaves in rows without keys, as the engine calls it. */
export type EmptyRow = 'neutral' | 'unwritten' | 'plusInf' | 'nan'

/** T query rows, B requests of q rows each, H gathered heads; `pad` is what heads are padded to. */
export type LseLayout = '[T,H]' | '[B,q,H]' | '[B*q,H]' | '[B,H,q]' | '[1,H,T]' | '[H,B]' | '[B,pad]'

export interface LseSemantics {
  readonly base: LseBase
  /** False where the base is what the merge assumes, and nobody has said what the kernel writes. */
  readonly verified: boolean
  /** The statistics travel with the partial and are read as they were written, so that the base makes no difference. */
  readonly carried?: true
  /** `query`: stored in the type of the query, which is bf16 as a rule. */
  readonly dtype: 'fp32' | 'query'
  readonly layout: LseLayout
}

/** Page sizes in tokens: some, multiples of a number, or divisors of one above a least. */
export type Pages =
  | readonly number[]
  | { readonly multipleOf: number }
  | { readonly divides: number; readonly above: number }

/** How several query tokens of a request are computed. */
export type QueryRows =
  /** One token; more are refused or computed elsewhere. */
  | 'single'
  /** In one call, each row with the global bound of its own. */
  | 'bound'
  /** As single rows with local lengths of their own. */
  | 'flattened'

export interface MergeSemantics {
  /** Where the base of the merge comes from. */
  readonly base: string
  /** Type of partials in flight; undefined: as configured. */
  readonly wire: Partial<Readonly<Record<Transport, 'out' | 'fp32'>>>
  /** What happens to the payload of a row whose weight is 0. */
  readonly zeroWeight: 'dropped' | 'multiplied' | 'unverified'
  /** What older versions did with it. */
  readonly zeroWeightBefore?: string
  /** Merged row where no rank has keys. */
  readonly allEmpty: Partial<Readonly<Record<Transport, '(0, -inf)' | '0' | 'NaN' | 'unverified'>>>
  readonly source: string
}

/** What a back-end's kernel and merge do; the native engine executes it. */
export interface Semantics {
  readonly attention: 'mla' | 'gqa' | 'sparse mla' | 'any'
  readonly lse: LseSemantics
  readonly emptyRow: EmptyRow
  /** What makes rows without keys neutral: the kernel, a step between kernel and merge, or the merge. */
  readonly neutralisedBy: 'kernel' | 'step' | 'merge' | 'nothing'
  /** The same in words. */
  readonly neutralised: string
  readonly queryRows: QueryRows
  /** Interleave: 1 alone, any that divides the page, or the page itself. */
  readonly interleave: 'one' | 'any' | 'page'
  readonly pages: Pages
  readonly kvTypes: readonly KvType[]
  readonly archs: readonly Arch[]
  readonly transports: readonly Transport[]
  /** Head counts that the kernel's heads are padded to; empty where they are not. */
  readonly headPadding: readonly number[]
  /** Counters of split KV that the kernel is handed: sized by gathered heads (localHeads * dcpSize), or none; undefined where nobody has said. */
  readonly splitCounters?: 'gathered' | 'none'
  /** Generated tokens are dealt out anew from rank 0 on, instead of going on where the prompt ended. */
  readonly restartsAfterPrompt?: true
  /** Length of rows that only pad the batch of a CUDA graph, tokens; undefined where nobody has said. */
  readonly padRowLength?: 0 | 1
  readonly merge: MergeSemantics
}

/** A serving back-end: what it computes, and what its engine accepts, refuses or replaces. */
export interface Profile {
  readonly name: string
  readonly title: string
  readonly framework: Framework
  /** Where its facts were read, as repository#number. */
  readonly sources: readonly string[]
  /** Kernels that `serving.kernel` can name, the default first; empty where there is one only. */
  readonly kernels: readonly string[]
  readonly semantics: Semantics
  readonly guards: readonly Guard[]
}
