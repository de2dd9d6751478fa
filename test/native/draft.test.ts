import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { column, finish, worst } from './engine.ts'
import { capturedConfig, EXACT, faultOf, type Observed, observe } from './faults/observe.ts'

/** A draft beside the model: one layer behind the model's, with pages, slots and metadata of its own. */

const DRAFT = 2
const batch = [1, 15, 16, 17, 40]
const drafted = (over: Partial<EngineConfig> = {}): EngineConfig => ({
  ...capturedConfig({ contextLens: batch, draft: true, qLen: 3, acceptedPerStep: 2, steps: 4, ...over }),
  captureLayers: [0, 1, DRAFT],
})

const acceptedOf = ({ run }: Observed): number[] => column(run.chunks, 'steps', -1, 'draft_accepted')
const proposedOf = ({ run }: Observed): number[] => column(run.chunks, 'steps', -1, 'draft_proposed')
const modelError = ({ run }: Observed): number => worst(column(run.chunks, 'steps', -1, 'max_rel_err'))
const proposed = new Array<number>(4).fill(batch.length * 3)

describe.each(['ag_rs', 'a2a', 'p2p'] as const)('a draft over %s', (comm) => {
  it('proposes every query token of each step, and all of them are accepted', async () => {
    const run = await observe(drafted({ comm }))
    expect(proposedOf(run)).toEqual(proposed)
    expect(acceptedOf(run)).toEqual(proposed)
    expect(modelError(run)).toBeLessThan(EXACT)
    for (const step of [0, 3]) expect(run.worst({ step, layer: DRAFT })).toBeLessThan(EXACT)
  })
})

describe('a draft', () => {
  it('has other pages and slots than the model for the same tokens', async () => {
    const run = await observe(drafted())
    for (const rank of [0, 1]) {
      const [model, draft] = [0, DRAFT].map((layer) => [...run.values(rank, 'slot_mapping', { layer })])
      expect(draft?.map((slot) => slot >= 0)).toEqual(model?.map((slot) => slot >= 0))
      expect(draft).not.toEqual(model)
      expect([...run.values(rank, 'block_table', { layer: DRAFT })]).not.toEqual([
        ...run.values(rank, 'block_table'),
      ])
      expect([...run.values(rank, 'seq_lens_local', { layer: DRAFT })]).toEqual([
        ...run.values(rank, 'seq_lens_local'),
      ])
    }
  })

  it('leaves the model what it is without one', async () => {
    const alone = await finish({ ...drafted(), draft: false, captureLayers: [0, 1] })
    const { run } = await observe(drafted())
    expect(run.captures.filter(({ layer }) => layer !== DRAFT)).toEqual(alone.captures)
  })

  it('is judged by one head of each token where not all rows are checked, and not at all where none are', async () => {
    for (const checkRows of [-1, 5]) {
      const some = await observe(drafted({ checkRows }))
      expect([proposedOf(some), acceptedOf(some)]).toEqual([proposed, proposed])
    }
    const none = await observe(drafted({ checkRows: 0 }))
    expect([proposedOf(none), acceptedOf(none)]).toEqual([new Array(4).fill(-1), new Array(4).fill(-1)])
  })

  it('does not count rows of padding', async () => {
    const run = await observe(drafted({ contextLens: [...batch, 0, 0, 0], padRequests: 3, padLength: 1 }))
    expect([proposedOf(run), acceptedOf(run)]).toEqual([proposed, proposed])
  })

  it('runs sparse, grouped, quantised and on one rank as the model does', async () => {
    for (const over of [
      { topk: 4 },
      { kvHeads: 2, headDim: 48 },
      { kvDtype: 'fp8' },
      { ranks: 1 },
      { shuffledPages: true, interleave: 4 },
      { restarts: true, interleave: 8 },
    ] as const) {
      const run = await finish({ ...drafted(), ...over })
      expect(column(run.chunks, 'steps', -1, 'draft_accepted')).toEqual(proposed)
      expect(run.dropped).toBe(0)
    }
  })

  it('is what a step does once: its spans lie before those of the layers of the model', async () => {
    const { run } = await observe(drafted({ steps: 1 }))
    const layers = column(run.chunks, 'spans', 0, 'layer')
    expect(layers.lastIndexOf(DRAFT)).toBeLessThan(layers.indexOf(0))
    expect(layers.filter((layer) => layer === DRAFT)).toHaveLength(
      layers.filter((layer) => layer === 0).length + 1,
    )
    const [once = 0] = column(run.chunks, 'steps', -1, 'once_ns')
    const lengths = column(run.chunks, 'spans', 0, 'dur_ns')
    expect(once).toBeGreaterThan(lengths.reduce((sum, ns, i) => sum + (layers[i] === DRAFT ? ns : 0), 0))
  })
})

describe('a fault of one branch', () => {
  it.each([
    'slot-map-ignores-dcp',
    'length-views-swapped',
    'page-table-not-local',
    'lse-base-mismatch',
    'coverage-gap',
  ] as const)('%s of the draft shows in accepted tokens alone', async (fault) => {
    const run = await observe(drafted(), faultOf(fault, { draft: true, amount: 1 }))
    expect(modelError(run)).toBeLessThan(EXACT)
    expect(worst(acceptedOf(run))).toBeLessThan(batch.length * 3)
    expect(run.worst({ layer: DRAFT })).toBeGreaterThan(1e-2)
    expect(run.worst({ layer: 1 })).toBeLessThan(EXACT)
  })

  it('of the model leaves the draft alone', async () => {
    const run = await observe(drafted(), faultOf('length-views-swapped'))
    expect(modelError(run)).toBeGreaterThan(1e-2)
    expect(acceptedOf(run)).toEqual(proposed)
  })

  it('leaves exactly that one unrefreshed', async () => {
    const lengths = (run: Observed, layer: number) =>
      [2, 3].map((step) => [...run.values(0, 'seq_lens_local', { step, layer })])
    const fresh = await observe(drafted())
    const draft = await observe(drafted(), faultOf('stale-graph-metadata', { draft: true, steps: [3] }))
    const model = await observe(drafted(), faultOf('stale-graph-metadata', { steps: [3] }))
    const [before] = lengths(fresh, 0)
    expect(lengths(draft, 0)).toEqual(lengths(fresh, 0))
    expect(lengths(draft, DRAFT)).toEqual([before, before])
    expect(acceptedOf(draft)[3]).toBeLessThan(batch.length * 3)
    expect(lengths(model, 0)).toEqual([before, before])
    expect(lengths(model, DRAFT)).toEqual(lengths(fresh, DRAFT))
    expect(acceptedOf(model)).toEqual(proposed)
  })

  it('has nothing to leave unrefreshed in a branch that the run does not take', async () => {
    // Decode: one query token a request.
    const decode = capturedConfig({ contextLens: batch, steps: 4 })
    const run = await observe(decode, faultOf('stale-graph-metadata', { steps: [3] }))
    expect(run.worst({ step: 2 })).toBeLessThan(EXACT)
    expect(run.worst({ step: 3 })).toBeGreaterThan(1e-3)
  })
})
