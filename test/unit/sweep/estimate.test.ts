import { expect, it } from 'vitest'
import { predict } from '../../../app/sweep/cost.ts'
import { TimeEstimate } from '../../../app/sweep/estimate.ts'
import { predictedRows, predictionsOf } from '../../../app/sweep/predictions.ts'
import { pointsOf, RATES, single, sweepOf } from './sample.ts'

const input = single({ mode: ['tp', 'dcp'], context: [1024, 65_536], concurrency: [1, 16] })
const points = pointsOf(input)

it('the time of a point grows with its work, and is corrected by how long others took', () => {
  const estimate = new TimeEstimate('cuda', predictionsOf(points, RATES))
  const [small] = points
  const large = points.findLast(({ mode }) => mode === 'dcp')
  if (small === undefined || large === undefined) throw new Error('no points')
  const before = estimate.of(large, 3)
  expect(before).toBeGreaterThan(estimate.of(small, 3))
  expect(estimate.of(large)).toBeCloseTo(before / 3, 9)
  estimate.took(small, 10 * estimate.of(small))
  expect(estimate.of(large, 3)).toBeCloseTo(10 * before, 6)
})

it('every point has a prediction of the measuring device, and of GPUs where a GPU or a table speaks for them', () => {
  const labels = { gpu: 'NVIDIA H200', model: 'deepseek-v3' }
  const transports = (shared: boolean, collectives: Parameters<typeof single>[0] = {}): string[] => {
    const rows = predictedRows(points, labels, { ...RATES, shared }, sweepOf({ ...input, ...collectives }))
    expect(rows.every(({ provenance, repeat }) => provenance === 'predicted' && repeat === -1)).toBe(true)
    return rows.filter(({ key }) => key === points[1]?.key).map(({ transport }) => transport)
  }
  const table = { collectives: [{ collective: 'all_gather' as const, ranks: 8, bytes: 8, us: 4 }] }
  expect(transports(false)).toEqual(['local', 'model'])
  expect(transports(true)).toEqual(['local'])
  expect(transports(true, table)).toEqual(['local', 'model'])
})

it('a prediction of the measuring device counts the ranks of a shared CPU, one of GPUs does not', () => {
  const run = points.find(({ mode, context }) => mode === 'dcp' && context === 65_536)?.run
  if (run === undefined) throw new Error('no point')
  const fixedMs = (61 * (RATES.attention.bf16?.us ?? 0)) / 1e3
  const attention = (shared: boolean): number =>
    (predict(run, { ...RATES, shared }, 'local')?.attnMs ?? 0) - fixedMs
  expect(attention(true) / attention(false)).toBeCloseTo(8, 6)
  const between = (shared: boolean) => predict(run, { ...RATES, shared }, { table: [] })
  expect(between(true)).toEqual(between(false))
})
