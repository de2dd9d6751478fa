import { useEffect, useRef } from 'react'
import { create } from 'zustand'
import { type Selection, useSelection } from '../state/selection.ts'
import { useSession } from '../state/session.ts'
import type { ViewId } from '../state/view.ts'

/** One value of the inspector: `copy` is what the copy button takes (default: the value as shown). */
export interface InspectorRow {
  readonly label: string
  readonly value: string
  readonly copy?: string
  readonly note?: string
  /** Where the value comes from, if it was not measured; copying takes it along. */
  readonly source?: string | undefined
}

/** What a view says of the selection. */
export interface InspectorSection {
  readonly view: ViewId
  readonly title: string
  readonly rows: readonly InspectorRow[]
  readonly about: About
}

/** The selection that a section is about: it is true in other views as long as nothing of it changes. */
export interface About {
  readonly run: string | null
  readonly selection: Partial<Selection>
}

interface InspectorStore {
  readonly sections: readonly InspectorSection[]
  readonly put: (view: ViewId, section: InspectorSection | null) => void
}

/** What each view said last. */
export const useInspectorContent = create<InspectorStore>((set) => ({
  sections: [],
  put: (view, section) =>
    set(({ sections }) => {
      const others = sections.filter((other) => other.view !== view)
      return { sections: section === null ? others : [...others, section] }
    }),
}))

/** The section of the shown view, then those that other views have said of what is still selected. */
export const sectionsFor = (
  sections: readonly InspectorSection[],
  view: ViewId,
  run: string | null,
  selection: Selection,
): readonly InspectorSection[] => [
  ...sections.filter((section) => section.view === view),
  ...sections.filter((section) => section.view !== view && holds(section.about, run, selection)),
]

/** Whether all that a section is about is selected still; without anything selected it is about nothing. */
const holds = ({ run, selection }: About, nowRun: string | null, now: Selection): boolean => {
  const parts = Object.entries(selection)
  return (
    run === nowRun &&
    parts.some(([, value]) => value !== null) &&
    parts.every(([key, value]) => Reflect.get(now, key) === value)
  )
}

const selected = (keys: readonly (keyof Selection)[]): Partial<Selection> => {
  const now = useSelection.getState()
  return Object.fromEntries(keys.map((key) => [key, now[key]]))
}

interface Said {
  readonly view: ViewId
  readonly title: string
  /** null shows nothing of the view. */
  readonly rows: readonly InspectorRow[] | null
  /** Parts of the selection that the rows are about; what is said of them stays while other views are shown. */
  readonly about: readonly (keyof Selection)[]
}

/** Lets the shown view say what the inspector shows. `deps` names what the rows depend on. */
export const useInspector = (said: Said, deps: readonly unknown[]): void => {
  const latest = useRef(said)
  latest.current = said
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller says what the rows depend on
  useEffect(() => {
    const { view, title, rows, about } = latest.current
    const section =
      rows === null
        ? null
        : { view, title, rows, about: { run: useSession.getState().openId, selection: selected(about) } }
    useInspectorContent.getState().put(view, section)
  }, [said.title, said.rows === null, ...deps])
}
