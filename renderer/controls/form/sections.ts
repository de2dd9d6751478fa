import { create } from 'zustand'
import { isRecord } from '../../state/config-path.ts'
import { load, save } from '../../state/kept.ts'

type Flags = Readonly<Record<string, boolean>>

interface Sections {
  readonly open: Flags
  /** Sections whose rarely needed fields are shown. */
  readonly more: Flags
  readonly toggle: (key: string) => void
  readonly toggleMore: (key: string) => void
  readonly reveal: (key: string) => void
}

/** What most runs and sweeps change; the rest is one click away. */
const AT_FIRST: Flags = {
  model: true,
  parallel: true,
  cache: true,
  workload: true,
  engine: true,
  points: true,
  measurement: true,
}

const KEY = 'formSections'

const keptFlags = (): Flags => {
  const kept = load(KEY)
  return isRecord(kept)
    ? { ...AT_FIRST, ...Object.fromEntries(Object.entries(kept).map(([key, open]) => [key, open === true])) }
    : AT_FIRST
}

export const useSections = create<Sections>((set, get) => ({
  open: keptFlags(),
  more: {},
  toggle: (key) => {
    const open = { ...get().open, [key]: get().open[key] !== true }
    save(KEY, open)
    set({ open })
  },
  toggleMore: (key) => set({ more: { ...get().more, [key]: get().more[key] !== true } }),
  reveal: (key) => set({ open: { ...get().open, [key]: true }, more: { ...get().more, [key]: true } }),
}))
