import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  FIRST_ARRANGEMENT,
  isArranged,
  type LaneArrangement,
  laneOrder,
  movedBy,
  movedTo,
  parsedArrangement,
  toggleAllFolded,
  toggleFolded,
  togglePinned,
} from '../../../renderer/views/timeline/arrangement.ts'
import {
  clipTop,
  groupTop,
  isOnGroups,
  kernelsHeight,
  laneBottom,
  lanesOf,
  laneTop,
  rankAtY,
  rankTop,
  scrollToLane,
  slotAtY,
  stagesHeight,
} from '../../../renderer/views/timeline/lanes.ts'

const RANKS = 6
const someRanks = fc.uniqueArray(fc.integer({ min: 0, max: 9 }))
const arrangements: fc.Arbitrary<LaneArrangement> = fc.record({
  order: someRanks,
  pinned: someRanks,
  folded: someRanks,
})

describe('arranged lanes', () => {
  it('hold every rank once, the pinned ones first', () => {
    fc.assert(
      fc.property(arrangements, (arrangement) => {
        const order = laneOrder(arrangement, RANKS)
        expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5])
        const pinned = order.map((rank) => arrangement.pinned.includes(rank))
        expect(pinned).toEqual([...pinned].sort((a, b) => Number(b) - Number(a)))
      }),
    )
  })

  it('move one place and back, and never out of the pinned or the other ones', () => {
    fc.assert(
      fc.property(arrangements, fc.integer({ min: 0, max: RANKS - 1 }), (arrangement, rank) => {
        const before = laneOrder(arrangement, RANKS)
        const down = movedBy(arrangement, RANKS, rank, 1)
        const after = laneOrder(down, RANKS)
        if (after.join() === before.join()) return
        expect(after.indexOf(rank)).toBe(before.indexOf(rank) + 1)
        expect(laneOrder(movedBy(down, RANKS, rank, -1), RANKS)).toEqual(before)
      }),
    )
    const pinned = togglePinned(FIRST_ARRANGEMENT, 3)
    expect(laneOrder(pinned, 4)).toEqual([3, 0, 1, 2])
    expect(laneOrder(movedTo(pinned, 4, 3, 2), 4)).toEqual([3, 0, 1, 2])
    expect(laneOrder(movedTo(pinned, 4, 2, 0), 4)).toEqual([3, 2, 0, 1])
  })

  it('are pinned and folded and again not', () => {
    expect(isArranged(FIRST_ARRANGEMENT, RANKS)).toBe(false)
    expect(isArranged(togglePinned(FIRST_ARRANGEMENT, 2), RANKS)).toBe(true)
    expect(togglePinned(togglePinned(FIRST_ARRANGEMENT, 2), 2)).toEqual(FIRST_ARRANGEMENT)
    expect(toggleFolded(toggleFolded(FIRST_ARRANGEMENT, 2), 2)).toEqual(FIRST_ARRANGEMENT)
    const all = toggleAllFolded(toggleFolded(FIRST_ARRANGEMENT, 2), RANKS)
    expect(all.folded).toHaveLength(RANKS)
    expect(toggleAllFolded(all, RANKS).folded).toEqual([])
  })

  it('that were kept are read only where they are such', () => {
    expect(parsedArrangement({ order: [1, 0], pinned: [], folded: [2] })).toEqual({
      order: [1, 0],
      pinned: [],
      folded: [2],
    })
    for (const bad of [
      null,
      3,
      {},
      { order: ['1'], pinned: [], folded: [] },
      { order: [-1], pinned: [], folded: [] },
    ])
      expect(parsedArrangement(bad)).toBeNull()
  })
})

describe('where lanes lie', () => {
  const places = fc.record({
    height: fc.integer({ min: 150, max: 1400 }),
    scroll: fc.integer({ min: 0, max: 600 }),
    kernels: fc.boolean(),
    replays: fc.boolean(),
    arrangement: arrangements,
  })
  const lanesAt = ({
    height,
    scroll,
    kernels,
    replays,
    arrangement,
  }: typeof places extends fc.Arbitrary<infer T> ? T : never) =>
    lanesOf(height, RANKS, scroll, kernels, { replays, arrangement })

  it('follow each other without overlap, with replays above and kernels below their stages', () => {
    fc.assert(
      fc.property(places, (place) => {
        const lanes = lanesAt(place)
        for (const [slot, rank] of lanes.order.entries()) {
          const next = lanes.order[slot + 1]
          const samePart = next !== undefined && lanes.pinned.has(rank) === lanes.pinned.has(next)
          if (next !== undefined && samePart)
            expect(laneBottom(rank, lanes)).toBeLessThan(rankTop(next, lanes))
          expect(laneTop(rank, lanes) > groupTop(rank, lanes)).toBe(place.replays)
          expect(isOnGroups(rankTop(rank, lanes), rank, lanes)).toBe(place.replays)
          expect(kernelsHeight(rank, lanes) > 0).toBe(place.kernels && !lanes.folded.has(rank))
          if (lanes.pinned.has(rank)) expect(laneBottom(rank, lanes)).toBeLessThanOrEqual(lanes.pinnedBottom)
        }
      }),
    )
  })

  it('are found where they are drawn, unless a pinned one lies over them', () => {
    fc.assert(
      fc.property(places, (place) => {
        const lanes = lanesAt(place)
        for (const rank of lanes.order) {
          const y = laneTop(rank, lanes) + stagesHeight(rank, lanes) / 2
          if (y >= clipTop(rank, lanes)) expect(rankAtY(y, lanes)).toBe(rank)
          else expect(rankAtY(y, lanes)).not.toBe(rank)
        }
        expect(rankAtY(lanes.rulerHeight - 1, lanes)).toBeNull()
      }),
    )
  })

  it('are wholly seen after scrolling to one, where there is room below the pinned ones', () => {
    fc.assert(
      fc.property(places, fc.integer({ min: 0, max: RANKS - 1 }), (place, rank) => {
        const before = lanesAt(place)
        const lanes = lanesAt({ ...place, scroll: scrollToLane(rank, before, place.height) })
        const room = place.height - lanes.pinnedBottom - lanes.laneGap
        if (lanes.pinned.has(rank) || room < laneBottom(rank, lanes) - rankTop(rank, lanes)) return
        expect(rankTop(rank, lanes)).toBeGreaterThanOrEqual(lanes.pinnedBottom)
        expect(laneBottom(rank, lanes)).toBeLessThanOrEqual(place.height)
      }),
    )
  })

  it('take a lane that is dragged to the one under the pointer', () => {
    const lanes = lanesOf(600, 4, 0)
    for (const [slot, rank] of lanes.order.entries())
      expect(slotAtY(laneTop(rank, lanes) + 5, lanes)).toBe(slot)
    expect(slotAtY(5000, lanes)).toBe(3)
  })
})
