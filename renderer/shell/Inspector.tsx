import { useEffect, useRef } from 'react'
import { create } from 'zustand'

/** One value of the inspector: `copy` is what the copy button takes (default: the value as shown). */
export interface InspectorRow {
  readonly label: string
  readonly value: string
  readonly copy?: string
  readonly note?: string
  /** Where the value comes from, if it was not measured; copying takes it along. */
  readonly source?: string | undefined
}

interface InspectorStore {
  readonly title: string
  readonly rows: readonly InspectorRow[] | null
  readonly put: (title: string, rows: readonly InspectorRow[] | null) => void
}

/** What the shown view says of the selection. */
export const useInspectorContent = create<InspectorStore>((set) => ({
  title: '',
  rows: null,
  put: (title, rows) => set({ title, rows }),
}))

/**
 * Lets a view say what the inspector shows, as long as the view is shown. `deps` names what the rows depend on; null
 * rows show nothing of the view.
 */
export const useInspector = (
  title: string,
  rows: readonly InspectorRow[] | null,
  deps: readonly unknown[],
): void => {
  const latest = useRef(rows)
  latest.current = rows
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller says what the rows depend on
  useEffect(() => useInspectorContent.getState().put(title, latest.current), [title, rows === null, ...deps])
  useEffect(() => () => useInspectorContent.getState().put('', null), [])
}
