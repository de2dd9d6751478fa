import type { Case } from '../case.ts'
import type { Hypothesis, LsePrediction } from '../hypothesis.ts'
import { needs, REFERENCE } from '../needs.ts'
import { PADDED_HEADS } from './lse-head-misaligned.ts'

/** Layouts that are taken for one another: whole tensors, and within each request. */
const lse = (c: Case): LsePrediction[] => {
  const { rows, heads } = c
  /** Of a request: its first row, and how many it has. */
  const within = (row: number): { first: number; count: number; index: number } => {
    const index = c.queryIndex[row] ?? 0
    return { first: row - index, count: c.queriesOf[c.requestOf[row] ?? -1] ?? 1, index }
  }
  // With heads that only pad, where there are some.
  const widths = [heads, ...PADDED_HEADS.filter((padded) => padded > heads)]
  const paddedWords = (padded: number): string => (padded === heads ? '' : `, with ${padded} padded heads,`)
  return [
    ...widths.map((padded) => ({
      detail: `where [T, H] is read as [H, T]${paddedWords(padded)}`,
      place: (row: number, head: number): number | undefined => {
        const flat = row * padded + head
        return flat < rows * heads ? (flat % rows) * heads + Math.floor(flat / rows) : undefined
      },
    })),
    { detail: 'where [H, T] is read as [T, H]', place: (row, head) => head * rows + row },
    // Of one token a request it is the same as padding that was not trimmed.
    ...(c.queriesOf.some((queries) => queries > 1) ? widths : [heads]).map((padded) => ({
      detail: `where the [H, q] of each request is read as [q, H]${paddedWords(padded)}`,
      place: (row: number, head: number): number | undefined => {
        const { first, count, index } = within(row)
        const at = first * padded + head * count + index
        return at < rows * heads ? at : undefined
      },
    })),
    {
      detail: 'where the [q, H] of each request is read as [H, q]',
      place: (row, head) => {
        const { first, count, index } = within(row)
        const flat = index * heads + head
        return first * heads + (flat % count) * heads + Math.floor(flat / count)
      },
    },
  ]
}

export const lseLayoutTransposed: Hypothesis = {
  fault: 'lse-layout-transposed',
  title: 'LSE read in another layout than it was written',
  causes: [
    {
      text: 'the kernel returns [1, H, T] or [B, H, q], and the transpose to [T, H] is missing or its strides are ignored',
      source: 'vllm-project/vllm#54305',
    },
  ],
  captureNext: 'lse_kernel and lse of all ranks, in a step with several rows',
  applies: (c) => c.dcp > 1 && c.heads > 1 && c.rows > 1,
  needs: [needs('lse', 'lse_kernel'), needs(...REFERENCE, 'lse')],
  lse,
}
