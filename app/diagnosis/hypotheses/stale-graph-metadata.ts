import { localLength } from '../../dcp/ownership.ts'
import type { Case } from '../case.ts'
import type { Hypothesis, TablePrediction } from '../hypothesis.ts'
import { ofAllRanks } from '../needs.ts'
import { rightLength } from '../right.ts'

/** Steps back that are tried, in tokens. */
const MOST_BACK = 4096

interface Cell {
  readonly rank: number
  readonly length: number
  readonly observed: number
}

const lengths = (c: Case): TablePrediction[] => {
  const cells: Cell[] = c.ranks.flatMap((rank) =>
    [...(rank.local ?? [])]
      .flatMap((observed, request) => {
        const length = c.lengths?.[request]
        return length === undefined
          ? []
          : [{ rank: rank.rank, length, observed, wrong: observed !== rightLength(c, rank, request) }]
      })
      .filter((_, __, all) => all.some(({ wrong }) => wrong)),
  )
  if (cells.length === 0) return []
  return [...earlier(c, cells), ...captured(c, cells)]
}

/** The first step back, by the same number of tokens in all requests, that fits every cell. */
const earlier = (c: Case, cells: readonly Cell[]): TablePrediction[] => {
  const fits = (back: number): boolean =>
    cells.every(({ rank, length, observed }) => localLength(Math.max(0, length - back), rank, c) === observed)
  for (let back = 1; back <= MOST_BACK; back++)
    if (fits(back))
      return [
        {
          detail: `and fit what they were ${back === 1 ? 'a token' : `${back} tokens`} ago`,
          at: ({ rank }, request) => localLength(Math.max(0, (c.lengths?.[request] ?? 0) - back), rank, c),
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
          detail: `and are the same for all requests, as for ${length} tokens when the graph was captured`,
          at: ({ rank }) => localLength(length, rank, c),
        },
      ]
  return []
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
  // Without a graph nothing is replayed; yet not every dump says that it was one.
  prior: ({ graph }) => (graph ? 2 : 0.5),
  needs: [ofAllRanks('seq_lens_global', 'seq_lens_local', 'block_table')],
  lengths,
}
