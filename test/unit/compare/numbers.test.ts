import { describe, expect, it } from 'vitest'
import { compareNumbers, firstDivergence } from '../../../app/compare/numbers.ts'
import { type DumpGroup, openDumps } from '../../../app/dump/dumps.ts'
import { memorySource } from '../../../app/dump/source.ts'
import { dumpBytes, ints, type Tensors } from '../dump/dump-file.ts'

const ROWS = 3
const HEADS = 4
const WIDTH = 2
const IDLE = { aborted: () => {}, progress: () => {} }

interface Place {
  readonly rank: number
  readonly row: number
  readonly head: number
}

/** What a test changes of the numbers that both have. */
interface Changes {
  readonly out?: (place: Place, value: number) => number
  readonly lse?: (place: Place, value: number) => number
  readonly merged?: (place: Place, value: number) => number
  readonly ranks?: number
  readonly steps?: readonly number[]
  readonly metadata?: Readonly<Record<string, string>>
  readonly tensors?: (rank: number, tensors: Tensors) => Tensors
}

const asIs = (_place: Place, value: number): number => value

const cells = (
  heads: number,
  width: number,
  value: (row: number, head: number, at: number) => number,
): number[] =>
  Array.from({ length: ROWS * heads * width }, (_, i) =>
    value(Math.floor(i / (heads * width)), Math.floor(i / width) % heads, i % width),
  )

/** Groups of a dump whose numbers are plain functions of their place. */
const groupsOf = async ({
  out = asIs,
  lse = asIs,
  merged = asIs,
  ranks = 2,
  steps = [3],
  metadata = {},
  tensors = (_rank, all) => all,
}: Changes = {}): Promise<readonly DumpGroup[]> => {
  const kept = HEADS / ranks
  const sources = steps.flatMap((step) =>
    Array.from({ length: ranks }, (_, rank) =>
      memorySource(
        `step${step}-rank${rank}`,
        dumpBytes(
          tensors(rank, {
            out: {
              shape: [ROWS, HEADS, WIDTH],
              values: cells(HEADS, WIDTH, (row, head, at) =>
                out({ rank, row, head }, 1 + rank + row + head + at),
              ),
            },
            lse: {
              shape: [ROWS, HEADS],
              values: cells(HEADS, 1, (row, head) => lse({ rank, row, head }, 2 + rank + row + head)),
            },
            merged: {
              shape: [ROWS, kept, WIDTH],
              values: cells(kept, WIDTH, (row, head, at) =>
                merged({ rank, row, head: rank * kept + head }, 5 + row + (rank * kept + head) + at),
              ),
            },
            seq_lens_global: ints([4, 5, 6]),
          }),
          { rank: String(rank), dcp_size: String(ranks), step: String(step), lse_base: 'e', ...metadata },
        ),
      ),
    ),
  )
  const { groups, problems } = await openDumps(sources)
  expect(problems).toEqual([])
  return groups
}

const compared = async (a: Changes, b: Changes) => compareNumbers(await groupsOf(a), await groupsOf(b), IDLE)

const at = (want: Place, change: (value: number) => number) => (place: Place, value: number) =>
  place.rank === want.rank && place.row === want.row && place.head === want.head ? change(value) : value

describe('numbers of two dumps', () => {
  it('that are the same diverge nowhere, down to the cell', async () => {
    const { groups, unmatched, tensors, notes } = await compared({}, {})
    expect({ groups, unmatched, notes }).toEqual({ groups: 1, unmatched: 0, notes: [] })
    expect(tensors.map(({ tensor, cells: count, diverging }) => [tensor, count, diverging])).toEqual([
      ['seq_lens_global', 6, 0],
      ['lse', 24, 0],
      ['out', 24, 0],
      ['merged', 12, 0],
    ])
    expect(firstDivergence(tensors)).toBeNull()
  })

  it('may be apart by what rounding explains, and no more', async () => {
    const within = await compared({}, { out: (_, value) => value * 1.009, lse: (_, value) => value + 0.009 })
    expect(firstDivergence(within.tensors)).toBeNull()
    const beyond = await compared({}, { lse: (_, value) => value + 0.011 })
    expect(firstDivergence(beyond.tensors)).toMatchObject({ tensor: 'lse', row: 0, head: 0, rank: 0 })
    const exact = await compared(
      { metadata: { kv_layout: 'fp32' } },
      { metadata: { kv_layout: 'fp32' }, out: (_, value) => value * 1.0001 },
    )
    expect(firstDivergence(exact.tensors)?.tensor).toBe('out')
  })

  it('diverge first at the first step, layer and tensor, then row, head and rank', async () => {
    const { tensors } = await compared(
      { steps: [3, 7] },
      {
        steps: [3, 7],
        out: at({ rank: 1, row: 2, head: 3 }, () => 100),
        merged: at({ rank: 0, row: 0, head: 1 }, () => 100),
      },
    )
    expect(firstDivergence(tensors)).toMatchObject({
      tensor: 'out',
      step: 3,
      rank: 1,
      row: 2,
      request: 2,
      qIndex: 0,
      head: 3,
      a: 7,
      b: 100,
    })
    expect(tensors.find(({ tensor }) => tensor === 'merged')).toMatchObject({
      diverging: 2,
      first: { step: 3, row: 0, head: 1 },
    })
  })

  it('that are no numbers in one of both diverge by infinity, and not where both are alike', async () => {
    const nan = at({ rank: 0, row: 1, head: 2 }, () => Number.NaN)
    const one = await compared({}, { out: nan })
    expect(firstDivergence(one.tensors)).toMatchObject({ row: 1, head: 2, error: Number.POSITIVE_INFINITY })
    const both = await compared({ out: nan }, { out: nan })
    expect(firstDivergence(both.tensors)).toBeNull()
    const empty = at({ rank: 0, row: 1, head: 2 }, () => Number.NEGATIVE_INFINITY)
    expect(firstDivergence((await compared({ lse: empty }, { lse: empty })).tensors)).toBeNull()
    expect(firstDivergence((await compared({ lse: empty }, {})).tensors)?.tensor).toBe('lse')
  })

  it('with lse of unlike bases are compared in one base', async () => {
    const inTwo = { metadata: { lse_base: '2' }, lse: (_: Place, value: number) => value * Math.LOG2E }
    expect(firstDivergence((await compared({}, inTwo)).tensors)).toBeNull()
    const misread = await compared({}, { metadata: { lse_base: '2' } })
    expect(firstDivergence(misread.tensors)).toBeNull()
    expect(misread.notes).toEqual(['The merges took the same lse for base e in A and base 2 in B.'])
    const unmarked = await compared({}, { lse: (_, value) => value * Math.LOG2E })
    expect(firstDivergence(unmarked.tensors)?.tensor).toBe('lse')
  })

  it('of unlike numbers of ranks are compared in merged outputs, head by head', async () => {
    const same = await compared({ ranks: 2 }, { ranks: 4 })
    expect(same).toMatchObject({
      sameRanks: false,
      tensors: [{ tensor: 'merged', cells: 12, diverging: 0 }],
      notes: ['They have unlike numbers of ranks: only merged outputs are compared.'],
    })
    const wrong = await compared(
      { ranks: 1 },
      { ranks: 4, merged: (place, value) => (place.row === 1 && place.head === 3 ? 9e9 : value) },
    )
    expect(firstDivergence(wrong.tensors)).toMatchObject({ tensor: 'merged', row: 1, head: 3, rank: 0 })
  })

  it('in rows without keys are not compared as the kernel left them', async () => {
    const without = (garbage: number): Changes => ({
      lse: (place, value) => (place.row === 1 ? Number.NEGATIVE_INFINITY : value),
      out: (place, value) => (place.row === 1 ? 0 : value),
      tensors: (_rank, all) => ({
        ...all,
        out_kernel: {
          shape: [ROWS, HEADS, WIDTH],
          values: cells(HEADS, WIDTH, (row) => (row === 1 ? garbage : 3)),
        },
      }),
    })
    const { tensors } = await compared(without(7), without(Number.NaN))
    expect(tensors.find(({ tensor }) => tensor === 'out_kernel')).toMatchObject({ cells: 16, diverging: 0 })
  })

  it('of unlike shapes say what is left out', async () => {
    const wide: Changes = {
      tensors: (_rank, all) => ({
        lse: all.lse ?? { shape: [0] },
        q: { shape: [ROWS, HEADS, 8] },
      }),
    }
    const narrow: Changes = {
      tensors: (_rank, all) => ({
        lse: all.lse ?? { shape: [0] },
        q: { shape: [ROWS, HEADS, 6] },
      }),
    }
    const { tensors, notes } = await compared(wide, narrow)
    expect(notes).toEqual(['q has 8 values a row in A and 6 in B: it is not compared.'])
    expect(tensors.find(({ tensor }) => tensor === 'lse')?.cells).toBe(24)
  })

  it('of steps that only one has are left out, and counted', async () => {
    const { groups, unmatched } = await compared({ steps: [3, 4] }, { steps: [4, 5, 6] })
    expect({ groups, unmatched }).toEqual({ groups: 1, unmatched: 3 })
  })

  it('are no longer compared once nobody waits', async () => {
    const [a, b] = [await groupsOf(), await groupsOf()]
    const gone = (): void => {
      throw new Error('nobody waits')
    }
    await expect(compareNumbers(a, b, { ...IDLE, aborted: gone })).rejects.toThrow('nobody waits')
  })
})
