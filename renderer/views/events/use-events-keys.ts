import { EVENT_GROUPINGS } from '../../../app/protocol/store.ts'
import { useViewKeys } from '../../controls/use-view-keys.ts'
import { type EventControl, isNarrowed, NO_FILTER } from '../../state/events.ts'
import { useSelection } from '../../state/selection.ts'
import type { Target } from './jumps.ts'
import { type EventGroup, filterOfSelection, movedCursor, PAGE } from './model.ts'

interface Ground {
  readonly control: EventControl
  readonly groups: readonly EventGroup[]
  /** Goes with the event that the cursor is on, or else the first cause. */
  readonly go: (target: Target) => boolean
  readonly selectCause: () => boolean
}

const TARGET_KEYS: ReadonlyMap<string, Target> = new Map([
  ['KeyT', 'timeline'],
  ['KeyM', 'merge'],
  ['KeyO', 'ownership'],
])

/** The keys of the view; their list for people is in shell/view-keys.ts. */
export const useEventsKeys = ({ control, groups, go, selectCause }: Ground): void => {
  const { look, change, narrow, group } = control
  const done = (act: () => void): boolean => {
    act()
    return true
  }
  const move = (by: 1 | -1): boolean => {
    const next = movedCursor(look, groups, by)
    if (next !== null) change({ ...next, picks: next.event != null })
    return true
  }
  const page = (by: 1 | -1): boolean => {
    const open = groups.find(({ key }) => key === look.open)
    const from = look.from + by * PAGE
    if (open === undefined || from < 0 || from >= open.count) return false
    return done(() => change({ from, event: from, group: open.key, picks: true }))
  }
  useViewKeys(({ code }) => {
    const target = TARGET_KEYS.get(code)
    if (target !== undefined) return go(target)
    switch (code) {
      case 'ArrowDown':
        return move(1)
      case 'ArrowUp':
        return move(-1)
      case 'ArrowRight':
        if (look.group === null || look.open === look.group) return false
        return done(() => change({ open: look.group, from: 0, event: null }))
      case 'ArrowLeft':
        if (look.open === null) return false
        return done(() => change({ open: null, from: 0, event: null }))
      case 'PageDown':
        return page(1)
      case 'PageUp':
        return page(-1)
      case 'KeyF':
        return selectCause()
      case 'KeyG': {
        const next = EVENT_GROUPINGS[(EVENT_GROUPINGS.indexOf(look.by) + 1) % EVENT_GROUPINGS.length]
        return done(() => group(next ?? 'kind'))
      }
      case 'KeyL':
        return done(() => narrow({ level: look.filter.level === 'rows' ? 'events' : 'rows' }))
      case 'KeyS':
        return done(() => narrow(filterOfSelection(useSelection.getState())))
      case 'Backspace':
        if (!isNarrowed(look.filter)) return false
        return done(() => narrow({ ...NO_FILTER, level: look.filter.level }))
      default:
        return false
    }
  })
}
