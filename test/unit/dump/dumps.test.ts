import { describe, expect, it } from 'vitest'
import { type DumpSet, openDumps, problemSentence } from '../../../app/dump/dumps.ts'
import { answerable } from '../../../app/dump/questions.ts'
import { type ByteSource, memorySource } from '../../../app/dump/source.ts'
import { dumpSource, ints, type Tensors } from './dump-file.ts'

type Metadata = Record<string, string>

const PARTIAL: Tensors = { out: { shape: [2, 4, 8] }, lse: { shape: [2, 4] } }

const rank = (r: number, metadata: Metadata = {}, tensors: Tensors = PARTIAL): ByteSource =>
  dumpSource(`rank${r}`, tensors, { rank: `${r}`, ...metadata })

const named = (name: string, source: ByteSource): ByteSource => ({ ...source, name })

const sentences = ({ problems }: DumpSet): string[] => problems.map(problemSentence)

describe('the sentence of a problem', () => {
  it('is not buried by the name of a tensor', () => {
    const sentence = problemSentence({ file: 'a', tensor: 'x'.repeat(1e6), rule: 'is wrong', refused: true })
    expect(sentence).toBe(`a: tensor ${'x'.repeat(120)}... (1000000 characters): is wrong`)
  })
})

describe('files of dumps', () => {
  it('are grouped by step and layer, in any order', async () => {
    const { groups, problems } = await openDumps([
      named('d', rank(1, { step: '4' })),
      named('c', rank(0, { step: '4' })),
      named('b', rank(1)),
      named('a', rank(0)),
      named('f', rank(1, { layer: '7' })),
      named('e', rank(0, { layer: '7' })),
    ])
    expect(problems).toEqual([])
    expect(groups.map(({ step, layer }) => [step, layer])).toEqual([
      [3, 0],
      [3, 7],
      [4, 0],
    ])
    expect(groups.map(({ ranks }) => [...ranks].map(([r, { reader }]) => [r, reader.file]))).toEqual([
      [
        [0, 'a'],
        [1, 'b'],
      ],
      [
        [0, 'e'],
        [1, 'f'],
      ],
      [
        [0, 'c'],
        [1, 'd'],
      ],
    ])
  })

  it('keep the reference of a run beside the ranks', async () => {
    const { groups, problems } = await openDumps([
      rank(0),
      dumpSource('reference', { out: { shape: [2, 4, 8], dtype: 'F64' } }, { rank: 'reference' }),
      rank(1),
    ])
    expect(problems).toEqual([])
    expect(groups[0]?.reference?.reader.file).toBe('reference')
    expect([...(groups[0]?.ranks.keys() ?? [])]).toEqual([0, 1])
  })

  it('are read until somebody ends it', async () => {
    let files = 0
    const ended = (): void => {
      if (files++ === 1) throw new Error('ended')
    }
    await expect(openDumps([rank(0), rank(1)], ended)).rejects.toThrow('ended')
  })

  it('are read only as far as headers and tables go', async () => {
    const bytes: [number, number][] = []
    const counted = (source: ByteSource): ByteSource => ({
      ...source,
      read: (from, length) => {
        bytes.push([from, length])
        return source.read(from, length)
      },
    })
    await openDumps([counted(rank(0, {}, { ...PARTIAL, kv: { shape: [64, 16, 24] } })), rank(1)])
    expect(bytes.map(([from]) => from)).toEqual([0, 8])
    expect(bytes[1]?.[1]).toBeLessThan(600)
  })
})

/** What is said of ranks 0 and 1 where rank 1 is given so, and of which ranks files are used. */
const said = async (sources: readonly ByteSource[]): Promise<{ problems: string[]; used: number[] }> => {
  const set = await openDumps(sources)
  return { problems: sentences(set), used: set.groups.flatMap(({ ranks }) => [...ranks.keys()]) }
}

describe('a group', () => {
  it('that lacks ranks is used, and says so', async () => {
    expect(await said([rank(1, { dcp_size: '4' })])).toEqual({
      problems: ['step 3, layer 0: lacks ranks 0, 2, 3 of 4'],
      used: [1],
    })
  })

  it('with a rank twice uses the first, and names both files', async () => {
    expect(await said([rank(0), named('other', rank(0)), rank(1)])).toEqual({
      problems: ['other: is of rank 0 of step 3, layer 0, as is rank0; that one is used'],
      used: [0, 1],
    })
  })

  it('with files of another dcp size uses those of the usual one', async () => {
    expect(await said([named('odd', rank(0, { dcp_size: '3' })), rank(0), rank(1)])).toEqual({
      problems: ['odd: is of dcp_size 3, other files of step 3 are of 2 (rank0)'],
      used: [0, 1],
    })
    // Also in another layer of the step; another step may be of another engine.
    const sources = [
      rank(0),
      rank(1),
      named('layer', rank(0, { dcp_size: '1', layer: '9' })),
      named('step', rank(0, { dcp_size: '1', step: '9' })),
    ]
    expect(await said(sources)).toEqual({
      problems: ['layer: is of dcp_size 1, other files of step 3 are of 2 (rank0)'],
      used: [0, 1, 0],
    })
  })

  it('with shapes that contradict other ranks uses the others', async () => {
    const wide: Tensors = { out: { shape: [2, 6, 8] }, lse: { shape: [2, 6] } }
    const three = { dcp_size: '3' }
    expect(await said([rank(0, three), rank(1, three, wide), rank(2, three)])).toEqual({
      problems: [
        'rank1: tensor out: has H = 6 in [2, 6, 8], other ranks have 4 (rank0)',
        'step 3, layer 0: lacks rank 1 of 3',
      ],
      used: [0, 2],
    })
  })

  it('keeps what ranks may disagree in, for the diagnosis', async () => {
    const disagreeing = rank(
      1,
      { lse_base: '2', interleave: '2' },
      { ...PARTIAL, seq_lens_local: ints([9, 9]) },
    )
    expect(await said([rank(0, { lse_base: 'e' }), disagreeing])).toEqual({
      problems: ['rank1: says interleave 2, other ranks say 1 (rank0), which is taken for all'],
      used: [0, 1],
    })
  })

  it('of a reference alone is none', async () => {
    expect(await said([dumpSource('alone', {}, { rank: 'reference' })])).toEqual({
      problems: ['alone: is a reference of which no rank is given'],
      used: [],
    })
  })
})

describe('a file that cannot be used', () => {
  it.each<[string, Tensors, Metadata, string]>([
    [
      'a negative length',
      { seq_lens_local: ints([4, -5]) },
      {},
      'tensor seq_lens_local: request 1 has the length -5, must be 0 to 1099511627776',
    ],
    ['a negative page id', { page_ids: ints([3, -2]) }, {}, 'tensor page_ids: has the negative page -2'],
    ['a page twice', { page_ids: ints([3, 1, 3]) }, {}, 'tensor page_ids: has page 3 twice'],
    [
      'a negative page in its table',
      { block_table: ints([1, 2, 3, -7], [2, 2]), seq_lens_global: ints([100, 300]) },
      { page_size: '64' },
      'tensor block_table: request 1 has the negative page -7',
    ],
    [
      'a negative slot',
      { slot_mapping: ints([3, -2]) },
      {},
      'tensor slot_mapping: must be at least -1, has -2',
    ],
    ['a negative token id', { topk: ints([3, -9], [2, 1]) }, {}, 'tensor topk: must be at least -1, has -9'],
    [
      'rows that go back',
      { query_start: ints([0, 2, 1, 4]), lse: { shape: [4, 2] } },
      {},
      'tensor query_start: must not decrease, request 2 begins at 1 after 2',
    ],
    [
      'rows that begin late',
      { query_start: ints([1, 2]) },
      {},
      'tensor query_start: must begin at 0, begins at 1',
    ],
    [
      'rows that end early',
      { query_start: ints([0, 2]), lse: { shape: [4, 2] } },
      {},
      'tensor query_start: ends at 2, but lse has 4 rows',
    ],
    [
      'no scale',
      { kv_scale: { shape: [1], values: [0] } },
      {},
      'tensor kv_scale: must be a positive number, is 0',
    ],
    [
      'a scale that is no number',
      { kv_scale: { shape: [1], values: [Number.NaN] } },
      {},
      'tensor kv_scale: must be a positive number, is NaN',
    ],
  ])('for %s is named with tensor and rule, and the others are used', async (_, tensors, metadata, rule) => {
    const { problems, used } = await said([rank(0), named('bad', rank(1, metadata, tensors))])
    expect(problems).toEqual([`bad: ${rule}`, 'step 3, layer 0: lacks rank 1 of 2'])
    expect(used).toEqual([0])
  })

  it('for its bytes is named, and the others are used', async () => {
    const failing: ByteSource = { ...rank(1), read: () => Promise.reject(new Error('input/output error')) }
    expect(await said([memorySource('empty', new Uint8Array()), failing, rank(0)])).toEqual({
      problems: [
        'empty: is truncated: 0 bytes are less than a header',
        'rank1: input/output error',
        'step 3, layer 0: lacks rank 1 of 2',
      ],
      used: [0],
    })
  })
})

describe('a page table', () => {
  const table = (ids: readonly number[], more: Tensors = {}): ByteSource =>
    rank(
      1,
      { dcp_size: '2' },
      {
        block_table: ints(ids, [1, ids.length]),
        seq_lens_global: ints([40]),
        kv: { shape: [3, 16, 8] },
        ...more,
      },
    )

  it('may hold anything in columns that the rank has no keys for', async () => {
    expect(await said([rank(0, {}, {}), table([0, 2, 900, -77])])).toEqual({ problems: [], used: [0, 1] })
  })

  it('with pages beyond the pool is used, and says so', async () => {
    expect(await said([rank(0, {}, {}), table([0, 3])])).toEqual({
      problems: [
        'rank1: tensor block_table: request 0 has page 3, beyond the 3 pages of kv, and no page_ids says that kv ' +
          'holds others; such pages are not checked',
      ],
      used: [0, 1],
    })
  })

  it('may name pages that were left out of the dump where page_ids says which are there', async () => {
    const sources = [rank(0, {}, {}), table([0, 3], { page_ids: ints([7, 0, 5]) })]
    expect((await said(sources)).problems).toEqual([])
  })
})

describe('questions', () => {
  const answers = async (sources: readonly ByteSource[]): Promise<Record<string, string>> => {
    const { groups } = await openDumps(sources)
    return Object.fromEntries(
      groups
        .flatMap(answerable)
        .map(({ question, missing, missingRanks }) => [
          question.name,
          [
            ...(missingRanks.length > 0 ? [`ranks ${missingRanks.join()}`] : []),
            ...missing.map(({ what, ranks }) => `${what} of ${ranks.join()}`),
          ].join('; '),
        ]),
    )
  }

  it('say what they lack, of which ranks', async () => {
    const whole: Tensors = { ...PARTIAL, merged: { shape: [2, 2, 8] }, seq_lens_local: ints([1, 0]) }
    expect(await answers([rank(0, {}, whole), rank(1)])).toMatchObject({
      merge: 'merged of 1',
      'empty-rows': 'seq_lens_global or seq_lens_local of 1',
      lengths: 'seq_lens_global of 0,1; seq_lens_local of 1',
      pages: 'block_table of 0,1; seq_lens_global of 0,1; page_size of 0,1',
    })
    expect((await answers([rank(0)])).merge).toBe('ranks 1; merged of 0')
  })

  it('are of sparse attention only where there is some', async () => {
    expect(Object.keys(await answers([rank(0)]))).not.toContain('topk')
    const sparse: Tensors = { topk: ints([1, 2], [1, 2]), topk_slots: ints([1, 2], [1, 2]) }
    expect((await answers([rank(0, {}, sparse)])).topk).toBe('')
  })

  it('need keys of either kind', async () => {
    const heads = { shape: [1, 16, 2, 8] }
    const gqa: Tensors = { kv_k: heads, kv_v: heads }
    const { reference } = await answers([rank(0, {}, gqa), rank(1, {}, { kv_k: heads })])
    expect(reference).toContain('kv or kv_k + kv_v of 1;')
    expect(reference).not.toContain('page_size')
  })
})
