import { create } from 'zustand'

/** Line of the matrix of back-ends that judges what the form of Run says. */
export const FORM_LINE = 'form'

interface BackendPick {
  /** Picked line and back-end of the matrix; with one of them alone a whole line or column. */
  readonly row: string | null
  readonly backend: string | null
  readonly pick: (row: string | null, backend: string | null) => void
}

/** What is picked of the matrix of back-ends; other views can pick before they show it. */
export const useBackendPick = create<BackendPick>((set) => ({
  row: null,
  backend: null,
  pick: (row, backend) => set({ row, backend }),
}))
