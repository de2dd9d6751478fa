import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { STAGES } from '../../../app/trace/stages.ts'
import { type Kernel, kernelFacts } from '../../../renderer/views/timeline/facts.ts'
import { itemAtPoint } from '../../../renderer/views/timeline/items.ts'
import { shortKernelName } from '../../../renderer/views/timeline/kernel-name.ts'
import {
  isOnKernels,
  kernelTop,
  laneBottom,
  lanesOf,
  laneTop,
  rankAtY,
  scrollToLane,
} from '../../../renderer/views/timeline/lanes.ts'
import type { SpanTile, TileItems } from '../../../renderer/views/timeline/tiles.ts'

describe('a name of a kernel', () => {
  it.each([
    ['void engine::(anonymous namespace)::attend<64, true>(engine::Work, int)', 'attend'],
    ['engine::merge(float const*, (anonymous namespace)::Shape<4>)', 'merge'],
    ['std::enable_if<true, void>::type engine::fill<engine::Format<int>>(engine::Format<int>)', 'fill'],
    ['memcpy device to device', 'memcpy device to device'],
    ['plainName', 'plainName'],
    ['', ''],
    ['(anonymous namespace)', '(anonymous namespace)'],
  ])('is short on a lane: %s', (name, short) => {
    expect(shortKernelName(name)).toBe(short)
  })
})

describe('lanes of kernels', () => {
  it('lie below that of their rank, and belong to it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 1400 }),
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 0, max: 2000 }),
        (height, ranks, scroll) => {
          const lanes = lanesOf(height, ranks, scroll, true)
          for (let rank = 0; rank < ranks; rank++) {
            const y = kernelTop(rank, lanes) + lanes.kernelHeight / 2
            if (y >= lanes.rulerHeight) expect(rankAtY(y, lanes)).toBe(rank)
            expect(isOnKernels(y, rank, lanes)).toBe(true)
            expect(isOnKernels(laneTop(rank, lanes) + lanes.laneHeight / 2, rank, lanes)).toBe(false)
            if (rank + 1 < ranks)
              expect(laneBottom(rank, lanes)).toBeLessThanOrEqual(laneTop(rank + 1, lanes))
          }
          const last = lanesOf(height, ranks, scrollToLane(ranks - 1, lanes, height), true)
          if (height > 150) expect(laneBottom(ranks - 1, last)).toBeLessThanOrEqual(height)
        },
      ),
    )
  })

  it('are not there where the run records none', () => {
    const lanes = lanesOf(400, 2, 0)
    expect(lanes.kernelHeight).toBe(0)
    expect(isOnKernels(laneBottom(0, lanes), 0, lanes)).toBe(false)
  })
})

const itemsOf = (starts: readonly number[], stage: number, count = 1): TileItems => ({
  rank: new Int32Array(starts.length),
  start: Float64Array.from(starts),
  dur: new Float64Array(starts.length).fill(50),
  busy: new Float64Array(starts.length).fill(50),
  wait: new Float64Array(starts.length),
  stage: new Uint8Array(starts.length).fill(stage),
  step: new Int32Array(starts.length),
  layer: new Int32Array(starts.length),
  count: new Int32Array(starts.length).fill(count),
  sources: new Uint8Array(starts.length).fill(1),
})

describe('what is under the pointer on a lane of kernels', () => {
  const at = (name: number, count: number) => {
    const tile: SpanTile = {
      startNs: 0,
      endNs: 1000,
      ...itemsOf([100, 200], 3),
      outer: itemsOf([], 12),
      kernels: { ...itemsOf([110, 400], 3, count), name: Int32Array.of(name, name) },
      kernelNames: ['attend(Work)'],
    }
    const lanes = lanesOf(400, 1, 0, true)
    const range = { startNs: 0, endNs: 1000 }
    return (x: number, y: number) => itemAtPoint(x, y, 1000, range, lanes, [{ tile, range }])
  }
  const lanes = lanesOf(400, 1, 0, true)
  const onKernels = kernelTop(0, lanes) + 5

  it('is the kernel with its name, and above it the span', () => {
    expect(at(0, 1)(120, onKernels)).toMatchObject({ startNs: 110, kernel: 'attend(Work)' })
    expect(at(0, 1)(120, laneTop(0, lanes) + 50)?.kernel).toBeUndefined()
    expect(at(0, 1)(220, onKernels)).toBeNull()
  })

  it('is several without a name where they are merged', () => {
    expect(at(-1, 9)(120, onKernels)).toMatchObject({ count: 9, kernel: '' })
  })
})

describe('the facts of a kernel', () => {
  const kernel: Kernel = {
    step: 3,
    layer: 1,
    stage: STAGES.indexOf('decode_attn'),
    name: 'engine::attend(Work)',
    startNs: 1000,
    durNs: 250,
    bytes: null,
    grid: [132, 1, 2],
    block: [384, 1, 1],
    registers: 168,
    sharedBytes: 2048,
    stream: 7,
    graph: false,
    provenance: 'measured',
  }
  const said = (of: Kernel, placed?: string) =>
    Object.fromEntries(kernelFacts(1, of, placed).map(({ label, value, source }) => [label, source ?? value]))

  it('are all of its numbers, with what is emulated', () => {
    expect(said(kernel, 'emulated')).toMatchObject({
      kernel: 'attend',
      'full name': 'engine::attend(Work)',
      stage: 'decode_attn',
      start: 'emulated',
      grid: '132 × 1 × 2',
      registers: '168',
      'shared memory': expect.stringContaining('2'),
    })
  })

  it('leave out what a copy does not have', () => {
    const copy: Kernel = {
      ...kernel,
      name: 'memset',
      bytes: 64,
      grid: null,
      block: null,
      registers: null,
      sharedBytes: null,
      graph: true,
    }
    const labels = Object.keys(said(copy))
    for (const label of ['grid', 'block', 'registers', 'shared memory', 'full name'])
      expect(labels).not.toContain(label)
    expect(said(copy)).toMatchObject({
      kernel: 'memset',
      bytes: expect.stringContaining('64'),
      graph: 'replayed',
    })
  })
})
