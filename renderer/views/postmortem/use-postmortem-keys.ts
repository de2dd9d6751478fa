import { useViewKeys } from '../../controls/use-view-keys.ts'
import { tell } from '../../state/messages.ts'
import { useSelection } from '../../state/selection.ts'
import { measuresOf, movedCell, neighbour, type Place, pickOf } from './model.ts'
import { usePick } from './pick.ts'
import type { DumpView, Shown } from './use-dump-view.ts'
import { type Vector, valuesText } from './Values.tsx'

const ARROWS: Readonly<Record<string, Place>> = {
  ArrowUp: { row: -1, column: 0 },
  ArrowDown: { row: 1, column: 0 },
  ArrowLeft: { row: 0, column: -1 },
  ArrowRight: { row: 0, column: 1 },
}

const move = ({ part, parts, tensor, cells, group }: Shown, by: Place): void => {
  // Of `merged` the selected rank may not keep the head.
  const own = part !== null && cells.has(part.rank) ? part : parts.find(({ rank }) => cells.has(rank))
  const from = own === undefined ? undefined : cells.get(own.rank)
  if (own === undefined || from === undefined || tensor === null) return
  const { selection, place } = pickOf(own, tensor, group, movedCell(own.grid, from, by))
  const { rank: _, ...rest } = selection
  useSelection.getState().select(rest)
  usePick.getState().change({ place })
}

const moveRank = ({ parts, part }: Shown, by: number): void => {
  const next = neighbour(
    parts.map(({ rank }) => rank),
    part?.rank ?? null,
    by,
  )
  if (typeof next === 'number') useSelection.getState().select({ rank: next })
}

const moveGroup = ({ contents, ref }: DumpView, by: number): void => {
  const groups = contents?.groups ?? []
  const now = groups.find(({ step, layer }) => step === ref?.step && layer === ref.layer)
  const next = neighbour(groups, now ?? null, by)
  if (next !== undefined) useSelection.getState().select({ step: next.step, layer: next.layer })
}

const copy = (vector: Vector | null): void => {
  if (vector === null) return
  navigator.clipboard.writeText(valuesText(vector)).then(
    () => tell('info', 'The values of the picked cell were copied.'),
    (error: unknown) =>
      tell('error', `Nothing was copied: ${error instanceof Error ? error.message : String(error)}`),
  )
}

/** Moves through the tensors by keys; see shell/view-keys.ts. */
export const usePostmortemKeys = (view: DumpView, shown: Shown, vector: Vector | null): void =>
  useViewKeys((event) => {
    const { change, octaves } = usePick.getState()
    const arrow = ARROWS[event.code]
    if (arrow !== undefined) {
      move(shown, arrow)
      return true
    }
    switch (event.code) {
      case 'KeyP':
      case 'KeyN':
        moveRank(shown, event.code === 'KeyP' ? -1 : 1)
        return true
      case 'Comma':
      case 'Period':
        change({
          tensor: neighbour(shown.names, shown.tensor, event.code === 'Comma' ? -1 : 1) ?? null,
          all: false,
        })
        return true
      case 'PageUp':
      case 'PageDown':
        moveGroup(view, event.code === 'PageUp' ? -1 : 1)
        return true
      case 'KeyM': {
        const measures = shown.part === null ? [] : measuresOf(shown.part)
        const next = measures[(measures.indexOf(shown.measure) + 1) % Math.max(1, measures.length)]
        if (next !== undefined) change({ measure: next })
        return true
      }
      case 'KeyL':
        change({ octaves: !octaves })
        return true
      case 'KeyC':
        copy(vector)
        return true
      default:
        return false
    }
  })
