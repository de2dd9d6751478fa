import { comparedNow, useCompare } from './compare.ts'
import { useDump } from './dump.ts'
import { itemOf } from './open.ts'
import { SELECTION_KEYS, type Selection, selectionNow, useSelection } from './selection.ts'
import { useSession } from './session.ts'
import { useView, type ViewId } from './view.ts'
import { showZoom, type Zoom, zoomOf } from './zoom.ts'

/** Where a person is: what is open, which view is shown, what is selected, and how the view is zoomed. */
export interface Place {
  readonly run: string | null
  readonly dump: string | null
  /** What it is compared with: the id of a run or dump, in Compare only. */
  readonly other: string | null
  readonly view: ViewId
  readonly selection: Selection
  readonly zoom: Zoom
}

export const placeNow = (): Place => {
  const { view } = useView.getState()
  const run = useSession.getState().openId
  const { dump } = useDump.getState()
  return {
    run,
    dump,
    other: view === 'compare' ? (comparedNow()?.id ?? null) : null,
    view,
    selection: selectionNow(),
    zoom: zoomOf(view, run),
  }
}

/** Whether two places have the same open and shown: what lies between them is a move of the selection. */
export const sameGround = (a: Place, b: Place): boolean =>
  a.run === b.run && a.dump === b.dump && a.other === b.other && a.view === b.view

/** Whether two places are one; the zoom does not count, which views undo themselves. */
export const samePlace = (a: Place, b: Place): boolean =>
  sameGround(a, b) && SELECTION_KEYS.every((key) => a.selection[key] === b.selection[key])

/** Goes to a place; a run that is gone is told of as when it is opened by hand. */
export const goTo = (place: Place): void => {
  const session = useSession.getState()
  if (place.run !== session.openId) {
    if (place.run === null) session.leaveRun()
    else void session.openRunById(place.run, { stay: true })
  }
  if (place.dump !== useDump.getState().dump) useDump.getState().show(place.dump)
  if (place.other !== null) useCompare.getState().choose(itemOf(place.other))
  useView.getState().show(place.view)
  useSelection.getState().select(place.selection)
  showZoom(place.view, place.run, place.zoom)
}
