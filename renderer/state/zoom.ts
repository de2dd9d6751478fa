import type { ViewId } from './view.ts'

/** The part of its picture that a view shows, in the unit of its axis (timeline: ns); null for all of it. */
export type Zoom = readonly [from: number, to: number] | null

/** A view that keeps its zoom outside of its component. */
interface ZoomKeeper {
  readonly read: (run: string | null) => Zoom
  readonly show: (run: string | null, zoom: Zoom) => void
}

const keepers = new Map<ViewId, ZoomKeeper>()

/** Lets places and links have the zoom of a view. Once, when the view is loaded. */
export const keepZoom = (view: ViewId, keeper: ZoomKeeper): void => void keepers.set(view, keeper)

/** What `view` shows of `run`; null also where it keeps no zoom. */
export const zoomOf = (view: ViewId, run: string | null): Zoom => keepers.get(view)?.read(run) ?? null

/** Lets `view` show a part of `run`, as a zoom that can be undone where the view can do so. */
export const showZoom = (view: ViewId, run: string | null, zoom: Zoom): void =>
  keepers.get(view)?.show(run, zoom)
