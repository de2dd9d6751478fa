import { describe, expect, it } from 'vitest'
import { visibleTokens } from '../../app/dcp/visible.ts'
import { vectorError } from '../../app/lse/error.ts'
import { mergePartials } from '../../app/lse/merge.ts'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { at, captureOf, type Finished, finish, smallConfig, tensorOf, valuesOf } from './engine.ts'
import { attend, keysOf } from './recompute.ts'

const merged = (run: Finished, config: EngineConfig, row: number, head: number): Float64Array => {
  const perRank = config.heads / config.ranks
  const values = valuesOf(captureOf(run, Math.floor(head / perRank)), 'merged')
  const begin = (row * perRank + (head % perRank)) * config.kvLoraRank
  return values.subarray(begin, begin + config.kvLoraRank)
}

const STEP = 2
const captured = (over: Partial<EngineConfig>): EngineConfig =>
  smallConfig({ captureSteps: [STEP], captureLayers: [1], steps: STEP + 1, ...over })

const lengthOf = (config: EngineConfig, request: number): number =>
  at(config.contextLens, request) + STEP * config.acceptedPerStep + config.qLen

describe('attention over the captured pages, computed again in plain doubles', () => {
  const cases: Partial<EngineConfig>[] = [
    { ranks: 2, qLen: 1 },
    { ranks: 3, heads: 6, qLen: 4, acceptedPerStep: 2, interleave: 2, comm: 'a2a' },
    { ranks: 4, heads: 8, qLen: 8, acceptedPerStep: 3, interleave: 8, needles: true, lseBase: '2' },
    { ranks: 5, heads: 5, qLen: 3, acceptedPerStep: 1, pageSize: 6, interleave: 3, kvDtype: 'bf16' },
    { ranks: 1, heads: 3, qLen: 2, acceptedPerStep: 1, shuffledPages: true },
  ]
  for (const over of cases) {
    const config = captured(over)
    const limit = config.kvDtype === 'bf16' ? 1e-2 : 1e-5
    const name = `dcp ${config.ranks}, q_len ${config.qLen}, interleave ${config.interleave}, ${config.kvDtype}`

    it(`gives the merged output and the engine's own reference (${name})`, async () => {
      const run = await finish(config)
      const queries = valuesOf(captureOf(run, 0), 'q')
      const width = config.kvLoraRank + config.ropeDim
      const reference = captureOf(run, -1)
      const base = config.lseBase === '2' ? Math.LN2 : 1
      config.contextLens.forEach((_, request) => {
        const len = lengthOf(config, request)
        const keys = keysOf(run, config, request, len)
        for (let q = 0; q < config.qLen; q++)
          for (let head = 0; head < config.heads; head++) {
            const row = request * config.qLen + q
            const flat = row * config.heads + head
            const query = queries.subarray(flat * width, (flat + 1) * width)
            const truth = attend(query, keys.slice(0, visibleTokens(len, config.qLen, q)), config)
            expect(vectorError(merged(run, config, row, head), truth.out).relative).toBeLessThan(limit)
            const own = valuesOf(reference, 'out').subarray(
              flat * config.kvLoraRank,
              (flat + 1) * config.kvLoraRank,
            )
            expect(vectorError(own, truth.out).relative).toBeLessThan(1e-12)
            expect(at(valuesOf(reference, 'lse'), flat) * base).toBeCloseTo(truth.lse, 10)
          }
      })
    })
  }

  it('gives the same queries to every rank, gathered or replicated', async () => {
    const gathered = await finish(captured({ ranks: 4 }))
    const replicated = await finish(captured({ ranks: 4, replicateQ: true }))
    const expected = tensorOf(captureOf(gathered, 0), 'q').data
    for (let rank = 0; rank < 4; rank++)
      for (const run of [gathered, replicated])
        expect(new Uint8Array(tensorOf(captureOf(run, rank), 'q').data)).toEqual(new Uint8Array(expected))
  })
})

describe('the merge of captured partials by app/lse', () => {
  for (const comm of ['ag_rs', 'a2a', 'p2p'] as const)
    for (const lseBase of ['e', '2'] as const)
      it(`gives what ${comm} leaves on each rank, with lse in base ${lseBase}`, async () => {
        const config = captured({ ranks: 4, comm, lseBase, qLen: 2, interleave: 4, needles: true })
        const run = await finish(config)
        const ranks = Array.from({ length: config.ranks }, (_, rank) => captureOf(run, rank))
        const V = config.kvLoraRank
        for (let flat = 0; flat < config.contextLens.length * config.qLen * config.heads; flat++) {
          const lse = ranks.map((capture) => at(valuesOf(capture, 'lse'), flat))
          const out = ranks.flatMap((capture) => [
            ...valuesOf(capture, 'out').subarray(flat * V, (flat + 1) * V),
          ])
          const expected = mergePartials({ lse, out, width: V, base: lseBase })
          const got = merged(run, config, Math.floor(flat / config.heads), flat % config.heads)
          expect(vectorError(got, expected.out).relative).toBeLessThan(1e-5)
        }
      })

  it('makes ranks with needles dominate by several nats', async () => {
    const config = captured({ ranks: 4, contextLens: [2000], needles: true, kvLoraRank: 128, ropeDim: 64 })
    const run = await finish({ ...config, softmaxScale: 0.05 })
    const lse = Array.from({ length: 4 }, (_, rank) => at(valuesOf(captureOf(run, rank), 'lse'), 0))
    expect(Math.max(...lse) - Math.min(...lse)).toBeGreaterThan(2)
    const plain = await finish({ ...config, softmaxScale: 0.05, needles: false })
    const even = Array.from({ length: 4 }, (_, rank) => at(valuesOf(captureOf(plain, rank), 'lse'), 0))
    expect(Math.max(...even) - Math.min(...even)).toBeLessThan(1)
  })
})

describe('rows without keys', () => {
  const config = captured({ ranks: 4, contextLens: [0, 20], steps: 1, captureSteps: [0] })
  const kernelRow = {
    neutral: { out: 0, lse: Number.NEGATIVE_INFINITY },
    plusInf: { out: 0, lse: Number.POSITIVE_INFINITY },
    nan: { out: Number.NaN, lse: Number.NEGATIVE_INFINITY },
    unwritten: { out: 4096, lse: 64 },
  } as const
  for (const emptyRow of ['neutral', 'plusInf', 'nan', 'unwritten'] as const)
    it(`come out of the kernel as ${emptyRow} says and go neutral into the merge`, async () => {
      const run = await finish({ ...config, emptyRow })
      const capture = captureOf(run, 3, 0)
      expect(at(valuesOf(capture, 'out_kernel'), 0)).toBe(kernelRow[emptyRow].out)
      expect(at(valuesOf(capture, 'lse_kernel'), 0)).toBe(kernelRow[emptyRow].lse)
      expect(at(valuesOf(capture, 'out'), 0)).toBe(0)
      expect(at(valuesOf(capture, 'lse'), 0)).toBe(Number.NEGATIVE_INFINITY)
    })
})
