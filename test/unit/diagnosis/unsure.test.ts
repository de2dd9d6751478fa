import { beforeAll, describe, expect, it } from 'vitest'
import type { Diagnosis } from '../../../app/diagnosis/result.ts'
import type { Captured } from '../../bench/diagnosis/engine-dumps.ts'
import { altered, diagnosed, firstOf, healthyRun, tensorOf, valuesOf, without } from './altered.ts'

/** Dumps that show something wrong which no known fault explains, or which more than one would explain. */

const PAGE = 16
const ALL = [0, 1, 2, 3]
let run: Captured

beforeAll(async () => {
  run = await healthyRun()
})

const unexplained = ({ information }: Diagnosis): string =>
  information
    .filter(({ kind }) => kind === 'unexplained')
    .map(({ message }) => message)
    .join('\n')

describe('keys that were never written', () => {
  /** The cache with zeros in the place of a slot. */
  const withoutKey = (rank: number, slot: number): Captured => {
    const [, page = 0, width = 0] = tensorOf(run, rank, 'kv').shape
    const at =
      [...valuesOf(tensorOf(run, rank, 'page_ids'))].indexOf(Math.floor(slot / PAGE)) * page + (slot % PAGE)
    return altered(run, 'kv', (values) => values.fill(0, at * width, (at + 1) * width), [rank])
  }

  it('such as a new token that its slot says to be there are undetermined, with no interleave', async () => {
    for (const rank of ALL)
      for (const slot of valuesOf(tensorOf(run, rank, 'slot_mapping')).filter((one) => one >= 0)) {
        for (const withheld of [[], ['slot_mapping'], ['slot_mapping', 'q']]) {
          const diagnosis = await diagnosed(withoutKey(rank, slot), without(...withheld))
          expect(diagnosis).toMatchObject({ verdict: 'undetermined', findings: [] })
          expect(unexplained(diagnosis)).toMatch(/1 key that rank \d has to hold is all zeros in the cache/)
          expect(unexplained(diagnosis)).toContain('capture slot_mapping')
        }
      }
  })

  it('such as all of a rank are undetermined', async () => {
    for (const rank of ALL) {
      const diagnosis = await diagnosed(altered(run, 'kv', (values) => values.fill(0), [rank]))
      expect(diagnosis).toMatchObject({ verdict: 'undetermined', findings: [] })
      expect(unexplained(diagnosis)).toMatch(new RegExp(`keys that rank ${rank} has to hold are all zeros`))
    }
  })

  it('on all ranks, where another interleave puts them, are those of that interleave', async () => {
    const other = await healthyRun({
      faults: [{ fault: 'interleave-mismatch', params: { of: 'cache', interleave: 16 } }],
    })
    const diagnosis = await diagnosed(other, without('slot_mapping'))
    expect(firstOf(diagnosis).fault).toBe('interleave-mismatch')
    expect(diagnosis.findings[0]?.confidence).toBeLessThan(1)
  })
})

describe('new tokens that no rank writes', () => {
  it.each([{}, { graph: '1' }])('are undetermined, also all of them, with metadata %j', async (metadata) => {
    const none = altered(run, 'slot_mapping', (values) => values.fill(-1))
    const diagnosis = await diagnosed(none, { metadata })
    expect(diagnosis).toMatchObject({ verdict: 'undetermined', findings: [] })
    expect(unexplained(diagnosis)).toContain('no rank writes the new token of row 0')
  })

  it('are undetermined, also one of them', async () => {
    for (const row of [0, 1, 2]) {
      const one = altered(run, 'slot_mapping', (values) => values.map((slot, i) => (i === row ? -1 : slot)))
      for (const metadata of [{}, { graph: '1' }])
        expect(await diagnosed(one, { metadata })).toMatchObject({ verdict: 'undetermined', findings: [] })
    }
  })
})

describe('lengths of 0', () => {
  it('beside merged values are not healthy, and said', async () => {
    const names = ['seq_lens_global', 'seq_lens_local']
    const zero = names.reduce((captured, name) => altered(captured, name, (v) => v.fill(0)), run)
    for (const name of names) {
      const keep = (_: unknown, tensor: string): boolean => tensor === name || tensor === 'merged'
      const diagnosis = await diagnosed(zero, { keep })
      expect(diagnosis).toMatchObject({ verdict: 'undetermined', findings: [] })
      expect(unexplained(diagnosis)).toMatch(
        /merged has values in row 0 .*by the lengths request 0 has no token/,
      )
      const graph = await diagnosed(zero, { keep, metadata: { graph: '1' } })
      expect(graph).toMatchObject({ verdict: 'undetermined', findings: [] })
      expect(graph.information.map(({ kind }) => kind)).toContain('nothing-checked')
    }
  })
})

describe('files of ranks that took each other’s place', () => {
  /** The file of each rank says to be of the next one of `ranks`. */
  const exchanged = (ranks: readonly number[], from: Captured): Captured => ({
    ...from,
    captures: from.captures.map((capture) => {
      const at = ranks.indexOf(capture.rank)
      return at < 0 ? capture : { ...capture, rank: ranks[(at + 1) % ranks.length] ?? 0 }
    }),
  })

  /** With a new token on every rank, which tells all of them apart. */
  let told: Captured
  beforeAll(async () => {
    const requests = [200, 1, 78, 79].map((contextLen) => ({ contextLen }))
    told = await healthyRun({ workload: { requests, steps: 1, warmup: 0 } })
  })

  it.each([[[0, 1]], [[2, 3]], [[0, 3]], [[0, 1, 2]], [[0, 1, 2, 3]]])(
    'such as %j are named, and taken for what they are',
    async (ranks) => {
      for (const withheld of [[], ['q', 'kv'], ['block_table'], ['merged', 'out', 'lse']]) {
        const { verdict, findings, inputIssues } = await diagnosed(
          exchanged(ranks, told),
          without(...withheld),
        )
        expect({ verdict, findings }).toEqual({ verdict: 'healthy', findings: [] })
        const said = inputIssues.map(({ rule, refused }) => ({
          refused,
          ranks: /says rank (\d) and has the lengths and slots of rank (\d)/.exec(rule)?.slice(1).map(Number),
        }))
        const expected = ranks.map((rank, i) => [ranks[(i + 1) % ranks.length], rank]).sort()
        expect(said.map((one) => one.ranks)).toEqual(expected)
        expect(said.every(({ refused }) => !refused)).toBe(true)
      }
    },
  )

  it('hide no fault beside it', async () => {
    const own = await healthyRun({ faults: [{ fault: 'merge-missing' }] })
    const { findings, inputIssues } = await diagnosed(exchanged([1, 3], own))
    expect(findings[0]).toMatchObject({ fault: 'merge-missing' })
    expect(inputIssues).toHaveLength(2)
  })

  it('and that nothing tells apart but the heads that they keep are said to be possible', async () => {
    const { findings, inputIssues } = await diagnosed(exchanged([2, 3], run))
    expect(inputIssues).toEqual([])
    expect(findings[0]).toMatchObject({ fault: 'head-order-permuted', ranks: [2, 3] })
    expect(findings[0]?.summary).toContain('files that took the place of each other would look the same')
    const [{ summary } = { summary: '' }] = (
      await diagnosed(await healthyRun({ faults: [{ fault: 'head-order-permuted' }] }))
    ).findings
    expect(summary).toContain('heads of the rank')
    expect(summary).not.toContain('files that took')
  })

  it('are not thought of where only lengths of one rank are those of another', async () => {
    const one = altered(run, 'seq_lens_local', () => valuesOf(tensorOf(run, 3, 'seq_lens_local')), [0])
    expect((await diagnosed(one)).inputIssues).toEqual([])
  })
})

describe('merges that assume different bases', () => {
  it('are lse-base-mismatch, also where the rank has no keys to show it', async () => {
    const metadata = ({ rank }: { rank: number }): Record<string, string> =>
      rank === 3 ? { lse_base: '2' } : {}
    const short = await healthyRun({ workload: { requests: [{ contextLen: 1 }], steps: 1, warmup: 0 } })
    expect((await diagnosed(short)).verdict).toBe('healthy')
    expect(firstOf(await diagnosed(short, { metadata }))).toEqual({ fault: 'lse-base-mismatch', ranks: [3] })
  })
})
