import { pageSizeOf } from './content.ts'
import type { Dump, DumpGroup } from './dumps.ts'

/** What one can ask of a dump, and the tensors that an answer needs of every rank. */
export interface Question {
  readonly name: string
  readonly asks: string
  /** Each entry is needed; of alternatives one suffices, and `a + b` means both. */
  readonly needs: readonly (readonly string[])[]
  /** Asked only of dumps that have this. */
  readonly onlyWith?: string
  /** A rank alone can answer for itself; otherwise all ranks are needed. */
  readonly alone: boolean
}

const LENGTHS = ['seq_lens_global', 'seq_lens_local'] as const

export const QUESTIONS: readonly Question[] = [
  {
    name: 'merge',
    asks: 'does merged follow from the partials',
    needs: [['out'], ['lse'], ['merged']],
    alone: false,
  },
  {
    name: 'reference',
    asks: 'are partials, lse and merged right',
    needs: [['q'], ['kv', 'kv_k + kv_v'], ['block_table'], LENGTHS, ['out', 'lse', 'merged'], ['page_size']],
    alone: false,
  },
  {
    name: 'empty-rows',
    asks: 'are rows without keys neutral',
    needs: [['out'], ['lse'], LENGTHS],
    alone: true,
  },
  {
    name: 'lengths',
    asks: 'do local lengths fit the global ones',
    needs: [['seq_lens_global'], ['seq_lens_local']],
    alone: true,
  },
  {
    name: 'pages',
    asks: 'does the page table fit the rank, and is it wide enough',
    needs: [['block_table'], ['seq_lens_global'], ['page_size']],
    alone: true,
  },
  {
    name: 'slots',
    asks: 'were new tokens written to their place',
    needs: [['slot_mapping'], ['block_table'], ['seq_lens_global'], ['page_size']],
    alone: true,
  },
  {
    name: 'topk',
    asks: 'are the chosen keys those of the rank',
    needs: [['topk'], ['topk_local', 'topk_slots']],
    onlyWith: 'topk',
    alone: true,
  },
]

export interface Answerable {
  readonly question: Question
  /** What is missing, as text: `kv or kv_k + kv_v`; empty when the question can be answered. */
  readonly missing: readonly { readonly what: string; readonly ranks: readonly number[] }[]
  /** Ranks that no file is of, where the question needs all. */
  readonly missingRanks: readonly number[]
}

/** Which questions the tensors of a group can answer, and what the others lack. */
export const answerable = (group: DumpGroup): Answerable[] =>
  QUESTIONS.filter(
    ({ onlyWith }) => onlyWith === undefined || [...group.ranks.values()].some((dump) => has(dump, onlyWith)),
  ).map((question) => ({
    question,
    missing: question.needs.flatMap((alternatives) => {
      const ranks = [...group.ranks].flatMap(([rank, dump]) =>
        alternatives.some((name) => has(dump, name)) ? [] : [rank],
      )
      return ranks.length === 0 ? [] : [{ what: alternatives.join(' or '), ranks }]
    }),
    missingRanks: question.alone ? [] : group.missing,
  }))

const has = ({ reader, info }: Dump, need: string): boolean =>
  need
    .split(' + ')
    .every((name) => (name === 'page_size' ? pageSizeOf(reader, info) !== undefined : reader.has(name)))

/** What keeps a question from being answered: `files of rank 3, kv of ranks 0-1`; empty when it can be. */
export const lackText = ({ missing, missingRanks }: Answerable, group: DumpGroup): string =>
  [
    ...(missingRanks.length > 0 ? [`files of ${rankText(missingRanks)}`] : []),
    ...missing.map(({ what, ranks }) =>
      ranks.length === group.ranks.size ? what : `${what} of ${rankText(ranks)}`,
    ),
  ].join(', ')

export const rankText = (ranks: readonly number[]): string =>
  `${ranks.length === 1 ? 'rank' : 'ranks'} ${numbersText(ranks)}`

/** `0-3, 5` for increasing numbers. */
export const numbersText = (numbers: readonly number[]): string => {
  const runs: [number, number][] = []
  for (const n of numbers) {
    const last = runs.at(-1)
    if (last !== undefined && last[1] === n - 1) last[1] = n
    else runs.push([n, n])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}
