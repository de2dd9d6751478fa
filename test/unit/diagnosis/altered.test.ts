import { beforeAll, describe, expect, it } from 'vitest'
import { diagnosisSchema } from '../../../app/diagnosis/result.ts'
import { convertLse } from '../../../app/lse/base.ts'
import type { Captured } from '../../bench/diagnosis/engine-dumps.ts'
import { altered, diagnosed, firstOf, healthyRun, tensorOf, valuesOf, without } from './altered.ts'

const ALL = [0, 1, 2, 3]
const HEADS = 16
const WIDTH = 64
/** Faults of sparse attention. */
const OF_CHOICE: readonly string[] = ['topk-not-localised', 'topk-sentinel-owned']
let run: Captured

beforeAll(async () => {
  run = await healthyRun()
})

describe('a healthy step', () => {
  it('has no finding, and all was checked but the choice of keys, of which a dense step has none', async () => {
    const diagnosis = await diagnosed(run)
    expect(diagnosis).toMatchObject({ healthy: true, verdict: 'healthy', findings: [], inputIssues: [] })
    expect(diagnosis.notChecked.map(({ fault }) => fault)).toEqual(OF_CHOICE)
    expect(diagnosisSchema.parse(JSON.parse(JSON.stringify(diagnosis)))).toEqual(diagnosis)
  })

  it('has none whatever is withheld, and says what could not be checked and why', async () => {
    const names = ['q', 'kv', 'lse', 'out', 'merged', 'seq_lens_global', 'seq_lens_local', 'block_table']
    for (const name of names) {
      const { findings, notChecked } = await diagnosed(run, without(name))
      expect(findings, name).toEqual([])
      const others = notChecked.filter(({ fault }) => !OF_CHOICE.includes(fault))
      expect(others.length, name).toBeGreaterThan(0)
      expect(others.every(({ needs }) => needs.some((need) => need.includes(name)))).toBe(true)
    }
  })

  it('is undetermined where nothing can be checked', async () => {
    const diagnosis = await diagnosed(run, { keep: (_, name) => name === 'kv' })
    expect(diagnosis).toMatchObject({ healthy: false, verdict: 'undetermined', findings: [] })
  })

  it.each([Number.POSITIVE_INFINITY, Number.NaN])(
    'may have %s in the lse of rows without keys',
    async (lse) => {
      const odd = altered(run, 'lse', (values) =>
        values.map((v) => (v === Number.NEGATIVE_INFINITY ? lse : v)),
      )
      const { findings, information } = await diagnosed(odd)
      expect(findings).toEqual([])
      expect(information.map(({ kind }) => kind)).toContain('harmless-empty-rows')
    },
  )
})

describe('local lengths', () => {
  const lengths = (of: (length: number) => number, ranks?: readonly number[]): Captured => {
    const global = valuesOf(tensorOf(run, 0, 'seq_lens_global'))
    return altered(
      run,
      'seq_lens_local',
      (_, { rank }) => global.map((length) => of(length - rank * 0)),
      ranks,
    )
  }

  it('that are the global ones are length-views-swapped', async () => {
    const diagnosis = await diagnosed(lengths((length) => length))
    expect(firstOf(diagnosis)).toEqual({ fault: 'length-views-swapped', ranks: ALL })
    expect(diagnosis.findings[0]).toMatchObject({ explained: 1, steps: [0], layers: [0] })
  })

  it('of another interleave are interleave-mismatch', async () => {
    const other = await healthyRun({ parallel: { interleave: 8 } })
    const mixed = { ...other, config: run.config }
    expect(firstOf(await diagnosed(mixed, without('slot_mapping', 'kv')))).toEqual({
      fault: 'interleave-mismatch',
      ranks: ALL,
    })
  })

  it('that are one too short on a rank are coverage-gap, unless a graph may be stale', async () => {
    const short = altered(run, 'seq_lens_local', (values) => values.map((v) => Math.max(0, v - 1)), [2])
    const [finding] = (await diagnosed(short)).findings
    expect(finding).toMatchObject({
      fault: 'coverage-gap',
      ranks: [2],
      ambiguousWith: [],
    })
    const graph = await diagnosed(short, { metadata: { graph: '1' } })
    expect(graph.findings[0]).toMatchObject({
      fault: 'stale-graph-metadata',
      ambiguousWith: ['coverage-gap'],
    })
  })

  it('that are too long on a rank are coverage-overlap', async () => {
    const long = altered(run, 'seq_lens_local', (values) => values.map((v) => v + 3), [1])
    expect(firstOf(await diagnosed(long))).toEqual({ fault: 'coverage-overlap', ranks: [1] })
  })
})

describe('slots of new tokens', () => {
  it('on ranks that do not hold the token are slot-map-ignores-dcp', async () => {
    const table = valuesOf(tensorOf(run, 0, 'block_table'))
    const global = valuesOf(tensorOf(run, 0, 'seq_lens_global'))
    const columns = tensorOf(run, 0, 'block_table').shape[1] ?? 0
    const slots = altered(run, 'slot_mapping', () =>
      global.map((length, request) => {
        const token = length - 1
        return (table[request * columns + Math.floor(token / 64)] ?? 0) * 16 + (token % 16)
      }),
    )
    expect(firstOf(await diagnosed(slots))).toEqual({ fault: 'slot-map-ignores-dcp', ranks: ALL })
  })
})

describe('the lse', () => {
  it('in another base than the merge assumes is lse-base-mismatch, on the ranks where it is', async () => {
    const other = altered(run, 'lse', (values) => values.map((v) => convertLse(v, 'e', '2')), [3])
    const { findings } = await diagnosed(other, without('lse_kernel', 'merged'))
    expect(findings[0]).toMatchObject({ fault: 'lse-base-mismatch', ranks: [3] })
  })

  it('read in another layout is lse-layout-transposed', async () => {
    const rows = 3
    const moved = altered(run, 'lse', (values) =>
      values.map((_, at) => values[(at % HEADS) * rows + Math.floor(at / HEADS)] ?? 0),
    )
    for (const withheld of [[], ['lse_kernel']])
      expect(firstOf(await diagnosed(moved, without('merged', ...withheld)))).toEqual({
        fault: 'lse-layout-transposed',
        ranks: ALL,
      })
  })
})

describe('merged', () => {
  const partials = (name: string): Float64Array[] => ALL.map((rank) => valuesOf(tensorOf(run, rank, name)))
  /** What each rank keeps, by a rule over (row, head, value). */
  const merged = (rule: (row: number, head: number, value: number) => number): Captured =>
    altered(run, 'merged', (values, { rank }) =>
      values.map((_, at) => {
        const value = at % WIDTH
        const place = Math.floor(at / WIDTH) % (HEADS / 4)
        return rule(Math.floor(at / WIDTH / (HEADS / 4)), rank * (HEADS / 4) + place, value)
      }),
    )
  const at = (row: number, head: number, value: number): number => (row * HEADS + head) * WIDTH + value

  it('that is the mean of the partials is lse-dropped', async () => {
    const out = partials('out')
    const mean = merged(
      (row, head, value) => out.reduce((sum, o) => sum + (o[at(row, head, value)] ?? 0), 0) / 4,
    )
    expect(firstOf(await diagnosed(mean))).toEqual({ fault: 'lse-dropped', ranks: ALL })
    expect(firstOf(await diagnosed(mean, without('q', 'kv', 'seq_lens_global')))).toEqual({
      fault: 'lse-dropped',
      ranks: ALL,
    })
  })

  it("that is a rank's own partial is merge-missing", async () => {
    const out = partials('out')
    const own = merged((row, head, value) => out[Math.floor(head / 4)]?.[at(row, head, value)] ?? 0)
    expect(firstOf(await diagnosed(own))).toEqual({ fault: 'merge-missing', ranks: ALL })
  })

  it('of the heads of another rank is head-order-permuted', async () => {
    const moved = altered(run, 'merged', (_, { rank }) => valuesOf(tensorOf(run, (rank + 1) % 4, 'merged')))
    expect(firstOf(await diagnosed(moved))).toEqual({ fault: 'head-order-permuted', ranks: ALL })
  })

  it('that nothing explains is undetermined, and said', async () => {
    const noise = altered(run, 'merged', (values) => values.map((_, i) => Math.sin(i * i)))
    const diagnosis = await diagnosed(noise)
    expect(diagnosis).toMatchObject({ verdict: 'undetermined', findings: [] })
    expect(diagnosis.information.map(({ kind }) => kind)).toContain('unexplained')
  })
})

describe('tables that lack something', () => {
  const told = async (made: Captured, kind: string): Promise<{ verdict: string; messages: string[] }> => {
    const { verdict, information } = await diagnosed(made)
    return { verdict, messages: information.filter((one) => one.kind === kind).map(({ message }) => message) }
  }
  const none = (values: Float64Array): Float64Array => values.fill(-1)

  it('such as every page are undetermined', async () => {
    const { verdict, messages } = await told(altered(run, 'block_table', none), 'unexplained')
    expect(verdict).toBe('undetermined')
    expect(messages.join()).toContain('the first is rank 0, request 0, column 0')
  })

  it('such as a page of one rank are not healthy', async () => {
    const one = altered(run, 'block_table', (values) => values.map((v, i) => (i === 1 ? -1 : v)), [2])
    expect((await told(one, 'unexplained')).verdict).not.toBe('healthy')
  })

  it('such as pages of the cache are healthy, and said', async () => {
    const other = altered(run, 'page_ids', (values) => values.map((v) => v + 1000), [1])
    const { verdict, messages } = await told(other, 'pages-missing')
    expect(verdict).toBe('healthy')
    expect(messages.join()).toMatch(/cells of block_table are not dumped, the first is page \d+ of rank 1/)
  })

  it('such as the slot of a new token on all ranks are undetermined', async () => {
    const unwritten = altered(run, 'slot_mapping', (values) => values.map((v, i) => (i === 2 ? -1 : v)))
    const { verdict, messages } = await told(unwritten, 'unexplained')
    expect(verdict).toBe('undetermined')
    expect(messages.join()).toContain('no rank writes the new token of row 2')
  })

  it('such as every length make rows without keys that are not neutral', async () => {
    const lengths = ['seq_lens_global', 'seq_lens_local']
    const zero = lengths.reduce((captured, name) => altered(captured, name, (v) => v.fill(0)), run)
    expect(firstOf(await diagnosed(zero)).fault).toBe('empty-row-not-neutralised')
    expect((await diagnosed(zero, without('seq_lens_local'))).verdict).toBe('undetermined')
    for (const given of [zero, altered(zero, 'slot_mapping', none)])
      expect((await diagnosed(given, { metadata: { graph: '1' } })).verdict).not.toBe('healthy')
  })
})

describe('values that are no numbers', () => {
  const first = (values: Float64Array, value: number): Float64Array =>
    values.map((v, i) => (i === 70 ? value : v))
  const all = (values: Float64Array): Float64Array => values.fill(Number.NaN)

  it.each<[string, () => Captured, string, string[]]>([
    ['every merged value', () => altered(run, 'merged', all), 'merged, rank 0, row 0, head 0 (NaN)', []],
    [
      'merged, without a cache',
      () => altered(run, 'merged', all),
      'merged, rank 0, row 0, head 0',
      ['kv', 'q'],
    ],
    [
      'merged alone',
      () => altered(run, 'merged', all),
      'merged, rank 0',
      ['kv', 'out', 'lse', 'seq_lens_global', 'seq_lens_local'],
    ],
    [
      'one merged value',
      () => altered(run, 'merged', (v) => first(v, Number.NaN), [2]),
      'merged, rank 2, row 0, head 9',
      [],
    ],
    [
      'one infinity',
      () => altered(run, 'merged', (v) => first(v, Number.POSITIVE_INFINITY), [1]),
      'head 5 (Infinity)',
      [],
    ],
    [
      'out of one rank',
      () => altered(run, 'out', (v) => first(v, Number.NaN), [3]),
      'out, rank 3, row 0, head 1 (NaN)',
      [],
    ],
    ['every lse', () => altered(run, 'lse', all), 'lse, rank 0, row 0, head 0', []],
    [
      'every lse, without kernels',
      () => altered(run, 'lse', all),
      'lse, rank 0, row 0, head 0',
      ['lse_kernel', 'out_kernel'],
    ],
    [
      'every lse, without lengths',
      () => altered(run, 'lse', all),
      'lse, rank 0, row 0, head 0',
      ['kv', 'seq_lens_global', 'seq_lens_local', 'lse_kernel'],
    ],
    [
      'out, without lengths',
      () => altered(run, 'out', (v) => first(v, Number.NaN), [3]),
      'out, rank 3, row 0, head 1',
      ['kv', 'merged', 'seq_lens_global', 'seq_lens_local'],
    ],
    [
      'out_kernel, without a cache',
      () => altered(run, 'out_kernel', (v) => first(v, Number.NaN), [1]),
      'out_kernel, rank 1, row 0, head 1',
      ['kv'],
    ],
    [
      'lse_kernel, without a cache',
      () => altered(run, 'lse_kernel', (v) => v.map((x, i) => (i === 3 ? Number.NaN : x)), [1]),
      'lse_kernel, rank 1, row 0, head 3',
      ['kv'],
    ],
  ])('in %s are undetermined, and said where', async (_, made, place, withheld) => {
    const diagnosis = await diagnosed(made(), without(...withheld))
    expect(diagnosis).toMatchObject({ healthy: false, verdict: 'undetermined', findings: [] })
    expect(diagnosis.information.map(({ message }) => message)).toEqual(
      expect.arrayContaining([expect.stringContaining(place)]),
    )
  })

  it('began where the kernel left them', async () => {
    const overflow = ['out_kernel', 'out', 'merged'].reduce(
      (captured, name) =>
        altered(captured, name, (v) => first(v, Number.POSITIVE_INFINITY), name === 'merged' ? [0] : [1]),
      run,
    )
    const { verdict, information } = await diagnosed(overflow)
    expect(verdict).toBe('undetermined')
    expect(information[0]?.message).toContain('first in out_kernel, rank 1, row 0, head 1 (Infinity)')
  })
})

describe('rows of padding', () => {
  it('come behind real rows', async () => {
    // A row without tokens that merges to NaN, beside partials that were merged without their lse.
    const names = ['seq_lens_global', 'seq_lens_local', 'lse', 'lse_kernel', 'out', 'out_kernel', 'merged']
    const empty = (name: string): number =>
      name === 'merged' ? Number.NaN : name.startsWith('lse') ? Number.NEGATIVE_INFINITY : 0
    const padded = names.reduce(
      (captured, name) =>
        altered(captured, name, (v) =>
          v.map((x, i) => (Math.floor(i / (v.length / 3)) === 1 ? empty(name) : x)),
        ),
      run,
    )
    const change = without('slot_mapping')
    expect(firstOf(await diagnosed(padded, change))).toEqual({ fault: 'merged-empty-nan', ranks: ALL })
    const outs = ALL.map((rank) => valuesOf(tensorOf(padded, rank, 'out')))
    const size = (HEADS / 4) * WIDTH
    const own = altered(padded, 'merged', (v, { rank }) =>
      v.map((x, i) =>
        Number.isNaN(x)
          ? x
          : (outs[rank]?.[Math.floor(i / size) * HEADS * WIDTH + rank * size + (i % size)] ?? 0),
      ),
    )
    const { findings } = await diagnosed(own, change)
    expect(findings.map(({ fault }) => fault)).toEqual(['merge-missing', 'merged-empty-nan'])
  })
})

describe('rows without keys', () => {
  it('that are not neutral are empty-row-not-neutralised', async () => {
    const { config } = await healthyRun({ engine: { emptyRow: 'unwritten' } })
    const raw = await healthyRun({ engine: { emptyRow: 'unwritten' } })
    const given =
      (name: string) =>
      (captured: Captured): Captured =>
        altered(captured, name, (_, { rank }) => valuesOf(tensorOf(raw, rank, `${name}_kernel`)))
    const kept = given('lse')(given('out')({ ...raw, config }))
    const diagnosis = await diagnosed(kept, without('merged'))
    expect(firstOf(diagnosis)).toEqual({ fault: 'empty-row-not-neutralised', ranks: [2, 3] })
    expect(diagnosis.findings[0]?.rows).toEqual([1])
  })

  it('on all ranks that merge to NaN are merged-empty-nan', async () => {
    const empty = ['out', 'lse', 'merged'].reduce(
      (captured, name) =>
        altered(captured, name, (values) => {
          const row = values.length / 3
          const left = name === 'out' ? 0 : name === 'lse' ? Number.NEGATIVE_INFINITY : Number.NaN
          return values.map((v, i) => (i >= row && i < 2 * row ? left : v))
        }),
      run,
    )
    const diagnosis = await diagnosed(
      empty,
      without('seq_lens_global', 'seq_lens_local', 'out_kernel', 'lse_kernel'),
    )
    expect(firstOf(diagnosis)).toEqual({ fault: 'merged-empty-nan', ranks: ALL })
  })
})

describe('metadata', () => {
  it('with the KV heads of a model whose keys are latent change nothing', async () => {
    const diagnosis = await diagnosed(run, { metadata: { num_kv_heads: '8' } })
    expect(diagnosis).toMatchObject({ verdict: 'healthy', findings: [], inputIssues: [] })
  })

  it.each([0, 3])(
    'of rank %i that contradict the others are named, and those of most ranks count',
    async (odd) => {
      const metadata = ({ rank }: { rank: number }) =>
        rank === odd ? { interleave: '8', softmax_scale: '0.9' } : {}
      const diagnosis = await diagnosed(run, { metadata })
      expect(diagnosis).toMatchObject({ verdict: 'healthy', findings: [] })
      expect(diagnosis.inputIssues.map(({ rule, refused }) => [rule, refused])).toEqual([
        [
          expect.stringMatching(/^says interleave 8, other ranks say 1 \(.*\), which is taken for all$/),
          false,
        ],
        [expect.stringMatching(/^says softmax_scale 0\.9, other ranks say 0\.11/), false],
      ])
    },
  )
})

describe('a rank that is missing', () => {
  it('leaves the others to be checked, and every fault unsettled for it', async () => {
    const captures = run.captures.filter(({ rank }) => rank !== 2)
    const diagnosis = await diagnosed({ ...run, captures })
    expect(diagnosis).toMatchObject({ verdict: 'undetermined', findings: [] })
    expect(diagnosis.inputIssues.map(({ rule }) => rule)).toEqual(
      expect.arrayContaining([expect.stringMatching(/rank 2/)]),
    )
    expect(diagnosis.notChecked.every(({ needs }) => needs.some((need) => need.includes('rank 2')))).toBe(
      true,
    )
  })
})
