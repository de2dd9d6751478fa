import { useRef } from 'react'
import { OUTER_STAGES } from '../../../app/trace/stages.ts'
import { useSelection } from '../../state/selection.ts'
import { itemAtTime, neighbourOf } from './items.ts'
import type { TimeRange } from './range.ts'
import type { HoveredItem } from './scene.ts'
import { spanAt, spanBeside } from './span-search.ts'
import type { TilePiece } from './tiles.ts'

interface Ground {
  readonly run: string
  /** Ranks as their lanes lie. */
  readonly order: readonly number[]
  readonly pieces: readonly TilePiece[]
  readonly selected: HoveredItem | null
  readonly shown: TimeRange
  readonly reveal: (range: TimeRange) => void
  /** Tells of a change of the lane. */
  readonly onRank: (rank: number) => void
  /** Tells of the kernel that was picked; null for none. */
  readonly onKernel: (kernel: HoveredItem | null) => void
  /** Tells why a span could not be looked up, or that all is well again. */
  readonly onTrouble: (sentence: string | null) => void
}

export interface Picking {
  /** Selects what lies at a time on a lane: a single span at once, one of a merged item as the store finds it. */
  readonly pickAt: (rank: number | null, ns: number, item: HoveredItem | null) => void
  readonly pickBeside: (direction: 1 | -1) => void
  readonly pickOtherRank: (direction: 1 | -1) => void
}

export const partOf = (item: HoveredItem): TimeRange => ({
  startNs: item.startNs,
  endNs: item.startNs + item.durNs,
})

/** Time that is selected with a kernel. */
export const middleOf = (item: HoveredItem): number => Math.round(item.startNs + item.durNs / 2)

/** Selecting spans, by pointer or keys. */
export const usePicking = ({
  run,
  order,
  pieces,
  selected,
  shown,
  reveal,
  onRank,
  onKernel,
  onTrouble,
}: Ground): Picking => {
  const { rank, timeNs, select } = useSelection()
  const asked = useRef(0)

  const take = (item: HoveredItem, timeNs = item.startNs): void =>
    select({
      rank: item.rank,
      step: item.step,
      timeNs,
      ...(item.layer < 0 ? {} : { layer: item.layer }),
    })

  /** Takes what the store finds, unless something else was picked meanwhile. */
  const takeFound = (search: Promise<HoveredItem | null>, seen: boolean): void => {
    const mine = ++asked.current
    search.then(
      (item) => {
        if (mine !== asked.current) return
        onTrouble(null)
        if (item === null) return
        take(item)
        if (seen) reveal(partOf(item))
      },
      (error: unknown) => {
        if (mine === asked.current) onTrouble(error instanceof Error ? error.message : String(error))
      },
    )
  }

  return {
    pickAt: (on, ns, item) => {
      asked.current++
      onKernel(item?.kernel === undefined || item.count > 1 ? null : item)
      // Its middle surely lies in the span of its stage.
      if (item?.kernel !== undefined && item.count === 1) return take(item, middleOf(item))
      // It contains others, one of which begins with it: only its place is selected.
      if (item !== null && OUTER_STAGES.includes(item.stage))
        return select({ rank: item.rank, step: item.step, timeNs: null })
      if (item !== null && item.count === 1) return take(item)
      select({ rank: on, timeNs: null })
      if (item !== null && item.kernel === undefined) takeFound(spanAt(run, item.rank, Math.round(ns)), false)
    },
    pickBeside: (direction) => {
      // The first that begins in what is shown.
      if (selected === null)
        return takeFound(spanBeside(run, rank ?? order[0] ?? 0, Math.floor(shown.startNs) - 1, 1), true)
      const near = selected.count === 1 ? neighbourOf(selected.rank, selected, direction, pieces) : null
      const touching = near !== null && near.count === 1
      takeFound(
        touching ? Promise.resolve(near) : spanBeside(run, selected.rank, selected.startNs, direction),
        true,
      )
    },
    pickOtherRank: (direction) => {
      const place = rank === null ? -1 : order.indexOf(rank)
      const next = order[place < 0 ? 0 : (place + direction + order.length) % order.length] ?? 0
      onRank(next)
      if (timeNs === null) return select({ rank: next })
      const item = itemAtTime(next, timeNs, pieces)
      if (item !== null && item.count === 1) {
        asked.current++
        return take(item)
      }
      select({ rank: next, timeNs })
      takeFound(spanAt(run, next, timeNs), false)
    },
  }
}
