import { localLength } from '../../dcp/ownership.ts'
import { type Case, columnsOf, dealOf } from '../case.ts'
import type { Hypothesis, TablePrediction, WidthPrediction } from '../hypothesis.ts'
import { needs } from '../needs.ts'
import { rightLength } from '../right.ts'

/** Steps back that are tried, in tokens. */
const MOST_BACK = 4096

interface Cell {
  readonly rank: number
  readonly request: number
  readonly length: number
  readonly observed: number
}

/** Any number of tokens may be chosen such that it fits; that of the last step, or of a capture, may not. */
const weight = (isTheLastStep: boolean): number => (isTheLastStep ? 3 : 1.5)

const lengths = (c: Case): TablePrediction[] => {
  const cells: Cell[] = c.ranks.flatMap((rank) =>
    [...(rank.local ?? [])]
      .flatMap((observed, request) => {
        const length = c.lengths?.[request]
        return length === undefined
          ? []
          : [
              {
                rank: rank.rank,
                request,
                length,
                observed,
                wrong: observed !== rightLength(c, rank, request),
              },
            ]
      })
      .filter((_, __, all) => all.some(({ wrong }) => wrong)),
  )
  if (cells.length === 0) return []
  return [...earlier(c, cells), ...captured(c, cells)]
}

/** The first step back, by the same number of tokens in all requests, that fits every cell. */
const earlier = (c: Case, cells: readonly Cell[]): TablePrediction[] => {
  const fits = (back: number): boolean =>
    cells.every(
      ({ rank, request, length, observed }) =>
        localLength(Math.max(0, length - back), rank, dealOf(c, request)) === observed,
    )
  for (let back = 1; back <= MOST_BACK; back++)
    if (fits(back))
      return [
        {
          weight: weight(back <= c.qLen),
          detail: `and fit what they were ${back === 1 ? 'a token' : `${back} tokens`} ago`,
          at: ({ rank }, request) =>
            localLength(Math.max(0, (c.lengths?.[request] ?? 0) - back), rank, dealOf(c, request)),
        },
      ]
  return []
}

/** One length for all requests, as a capture of a graph uses. */
const captured = (c: Case, cells: readonly Cell[]): TablePrediction[] => {
  const longest = Math.max(...cells.map(({ observed }) => observed)) * c.dcp + c.interleave * c.dcp
  for (let length = 1; length <= Math.min(longest, MOST_BACK); length++)
    if (cells.every(({ rank, observed }) => localLength(length, rank, c) === observed))
      return [
        {
          weight: weight(length === 1),
          detail: `and are the same for all requests, as for ${length} tokens when the graph was captured`,
          at: ({ rank }) => localLength(length, rank, c),
        },
      ]
  return []
}

/** A table of before: the columns that requests have entered since are missing, or all of it. */
const pages = (c: Case): TablePrediction[] => {
  const { page } = c
  if (page === undefined) return []
  const before = (detail: string, had: (length: number, request: number) => number): TablePrediction => ({
    detail,
    weight: weight(true),
    at: ({ table }, index) => {
      if (table === undefined) return undefined
      const request = Math.floor(index / table.columns)
      const columns = columnsOf(c, page, had(c.lengths?.[request] ?? 0, request), request)
      return index % table.columns >= columns ? -1 : undefined
    },
  })
  return [
    before('and lack the columns that requests have entered with the new tokens', (length, request) =>
      Math.max(0, length - (c.queriesOf[request] ?? 1)),
    ),
    before('and are those of requests without tokens, as when the graph was captured', () => 0),
  ]
}

/** Columns of the longest request before its new tokens. */
const width = (c: Case): WidthPrediction[] => {
  const { page, lengths } = c
  if (page === undefined || lengths === undefined) return []
  const columns = (back: number): number =>
    Math.max(
      1,
      ...[...lengths.subarray(0, c.batch)].map((length, request) =>
        columnsOf(c, page, Math.max(0, length - back), request),
      ),
    )
  // A graph is captured without tokens, so that no request has a page yet.
  const isCaptured = c.ranks.some(({ table }) => table?.values.every((id) => id < 0) === true)
  return [
    { detail: 'as before the new tokens', columns: columns(c.qLen), weight: weight(true) },
    ...(isCaptured ? [{ detail: 'as when the graph was captured', columns: 1, weight: weight(true) }] : []),
  ]
}

export const staleGraphMetadata: Hypothesis = {
  fault: 'stale-graph-metadata',
  title: 'A graph replay sees lengths or pages of another step',
  causes: [
    {
      text: 'the buffers that a captured graph reads are not refreshed before a replay, in one of the branches decode, target verify and draft extend',
      source: 'vllm-project/vllm#36070',
    },
  ],
  captureNext: 'the same step once more with graphs off (eager), and two replays one after the other',
  // What is not said to be the replay of a graph is none.
  applies: (c) => c.dcp > 1 && c.graph,
  needs: [needs('seq_lens_global', 'seq_lens_local', 'block_table', 'slot_mapping', 'page_size')],
  lengths,
  pages,
  width,
}
