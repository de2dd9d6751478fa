import type { FaultName } from '../faults/names.ts'
import type { LseBase } from '../lse/base.ts'
import type { Case, RankTables } from './case.ts'
import type { Need } from './needs.ts'
import type { PartialContext, PartialRow } from './partial-reference.ts'
import type { Cause } from './result.ts'
import type { RightPages } from './sites/pages.ts'

/**
 * One fault: what it predicts, tensor by tensor. A site compares what was dumped with what is right and with what each
 * hypothesis predicts there (sites/); a hypothesis says nothing of sites where its fault does not show.
 */
export interface Hypothesis {
  readonly fault: FaultName
  readonly title: string
  readonly causes: readonly Cause[]
  readonly captureNext: string
  /** Any one of these sets of tensors both shows and excludes the fault. */
  readonly needs: readonly Need[]
  /** Whether the fault can be there at all; it is not listed as unchecked where it cannot. Default: with several ranks. */
  readonly applies?: (c: Case) => boolean
  /** Local lengths, [B] of each rank. */
  readonly lengths?: (c: Case) => readonly TablePrediction[]
  /** Global lengths, [B] of each rank. */
  readonly globals?: (c: Case) => readonly TablePrediction[]
  /** Keys that were ever written, [B] of each rank. */
  readonly written?: (c: Case) => readonly TablePrediction[]
  /** Slots of the new tokens, [T] of each rank. */
  readonly slots?: (c: Case) => readonly TablePrediction[]
  /** Columns of the page table where it is too narrow. */
  readonly width?: (c: Case) => readonly WidthPrediction[]
  /** Page table, [B * columns] of each rank. */
  readonly pages?: (c: Case, right: RightPages) => readonly TablePrediction[]
  /** Localised ids and slots of sparse attention, [T * K] of each rank. */
  readonly topkLocal?: (c: Case) => readonly TablePrediction[]
  readonly topkSlots?: (c: Case) => readonly TablePrediction[]
  /** Weights with which the merge adds up the partials. */
  readonly merge?: (c: Case) => readonly MergePrediction[]
  /** log-sum-exp as the merge gets it, beside that of the kernel. */
  readonly lse?: (c: Case) => readonly LsePrediction[]
  /** Keys that the kernel attends to, where these are the first local ones. */
  readonly keys?: (c: Case) => readonly KeysPrediction[]
  /** Any other partial of the kernel; asked for only where a partial is wrong. */
  readonly partials?: (c: Case) => readonly PartialPrediction[]
}

/** Values of an integer table that a fault leads to. */
export interface TablePrediction {
  /**
   * Which of predictions that fit equally well is believed: the one with more. Default 3; less where something was chosen such
   * that it fits.
   */
  readonly weight?: number
  /** What is special of it, as the end of a sentence: `with interleave 4`. */
  readonly detail: string
  /** Undefined: no prediction for this cell, which then counts as what is right. */
  readonly at: (rank: RankTables, index: number) => number | undefined
}

/** Columns that a page table has by a fault. */
export interface WidthPrediction {
  readonly detail: string
  readonly columns: number
  readonly weight?: number
}

export const DEFAULT_WEIGHT = 3

/** What a merge gets of one query row and head. */
export interface MergeInput {
  readonly row: number
  readonly head: number
  /** Rank that keeps the result. */
  readonly keeper: number
  /** Of each rank, as dumped. */
  readonly lse: Float64Array
  /** What the merge of a rank takes the lse for, as the dump says. */
  readonly baseOf: (rank: number) => LseBase
}

export interface MergePrediction {
  /** As the middle of a sentence: `with base 2 for base e`. */
  readonly detail: string
  /** Rank on which the fault sits, where it is one; otherwise it is the rank that keeps the result. */
  readonly rank?: number
  /** Changes `weights` [c], which are right, to those of the fault. */
  readonly weights?: (input: MergeInput, weights: Float64Array) => void
  /** Head that lands in the place of `head` at its keeper. */
  readonly headFor?: (head: number, keeper: number) => number
}

/** An lse that lands in another place, or with another value. */
export interface LsePrediction {
  readonly detail: string
  /** Place in [T * H] where the lse of (row, head) lands; undefined: nowhere. */
  readonly place: (row: number, head: number) => number | undefined
}

/** Keys by their count from the first local one on, of a row on a rank. */
export interface KeysPrediction {
  readonly detail: string
  /** Undefined: as is right. */
  readonly count: (rank: RankTables, row: number) => number | undefined
}

export interface PartialPrediction {
  readonly detail: string
  /** Undefined: as is right, or not known. */
  readonly partial: (context: PartialContext) => Promise<PartialRow | undefined>
}
