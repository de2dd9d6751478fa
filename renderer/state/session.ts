import { create } from 'zustand'
import type { CommandResult, DesktopState } from '../../app/protocol/desktop.ts'
import type { Progress, RunInfo, RunRef } from '../../app/protocol/store.ts'
import { desktop } from '../bridge/bridge.ts'
import { useDump } from './dump.ts'
import { tell } from './messages.ts'
import { neighbour, type OpenItem, selectionLeft, useOpen } from './open.ts'
import { recaptureConfig } from './recapture.ts'
import { NO_SELECTION, selectionNow, useSelection } from './selection.ts'
import { request } from './store-client.ts'
import { useView } from './view.ts'

interface Session {
  readonly desktop: DesktopState | null
  /** Newest first. */
  readonly runs: readonly RunRef[]
  readonly openRun: RunInfo | null
  /** Id of the run that is open or being opened. */
  readonly openId: string | null
  /** Live numbers of the open run, while it goes on and once at its end. */
  readonly progress: Progress | null
  /** Why the last thing that was asked for did not happen. */
  readonly error: string | null
  /** `stay`: whoever opens it says which view is shown. */
  readonly openRunById: (id: string, how?: { readonly stay: boolean }) => Promise<void>
  /** Shows no run; it stays open. */
  readonly leaveRun: () => void
  /** Shows something that is open, or known; `stay` as above. */
  readonly showItem: (item: OpenItem, how?: { readonly stay: boolean }) => void
  /** Shows what was opened behind or before what is shown. */
  readonly showNeighbour: (by: 1 | -1) => void
  /** Puts it away; what is left open takes its place where it was shown. A run in progress goes on. */
  readonly closeItem: (id: string) => void
  /** Takes in what main opened: all of it is open then, the first is shown, and what was refused is told. */
  readonly takeOpened: (result: CommandResult) => Promise<void>
  readonly refreshRuns: () => Promise<void>
  /** Starts a run and opens it at once. */
  readonly startRun: (config: unknown) => Promise<CommandResult>
  readonly pause: () => Promise<CommandResult>
  readonly resume: () => Promise<CommandResult>
  readonly stop: () => Promise<CommandResult>
  /** Measures a new sweep and opens it at once. */
  readonly startSweep: (config: unknown) => Promise<CommandResult>
  readonly pauseSweep: () => Promise<CommandResult>
  /** Goes on with a sweep and shows it. */
  readonly resumeSweep: (run: string) => Promise<CommandResult>
  readonly restart: (process: 'engine' | 'store') => Promise<CommandResult>
  /** Runs the configuration of the open run again and keeps the tensors of this step and layer. */
  readonly rerunWithCapture: (step: number, layer: number) => Promise<CommandResult>
  /** Asks for folders of bundles and opens them. */
  readonly openBundle: () => Promise<CommandResult>
  /** Asks for files or folders of a dump and opens it. */
  readonly openDump: (pick: 'files' | 'folder') => Promise<CommandResult>
  /** Shows a dump that main knows in Post-mortem. */
  readonly showDump: (dump: string, how?: { readonly stay: boolean }) => void
  readonly forgetDump: (dump: string) => Promise<CommandResult>
  readonly revealRun: (run: string) => Promise<CommandResult>
  /** Asks where to save a file and tells where it is; `name` is what it is called unless the person says otherwise. */
  readonly saveFile: (name: string, content: string | Uint8Array<ArrayBuffer>) => Promise<CommandResult>
  readonly take: (
    parts: Partial<Pick<Session, 'desktop' | 'runs' | 'openRun' | 'progress' | 'error'>>,
  ) => void
}

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const refusal = (message: string): CommandResult => ({ ok: false, message, issues: [] })

/** Id of what is shown: a dump before the run behind it. */
export const shownId = (): string | null => useDump.getState().dump ?? useSession.getState().openId

/** Whether a bundle is being written from here, or ended before there was anything to keep. */
const isOfSession = (desktop: DesktopState | null, id: string): boolean =>
  [
    desktop?.activeRun?.id,
    desktop?.lastRun?.id,
    desktop?.activeSweep?.run,
    desktop?.lastSweep?.end.kept === false ? desktop.lastSweep.run : undefined,
  ].includes(id)

/** The desktop as main tells it, the runs, and the one that is open. */
export const useSession = create<Session>((set, get) => {
  /** Sends a command; a refusal is told on the status line, so that no caller has to. */
  const command = async (send: () => Promise<CommandResult>): Promise<CommandResult> => {
    const result = await send().catch((error: unknown) => refusal(sentenceOf(error)))
    set({ error: result.ok ? null : result.message })
    if (!result.ok) tell('error', result.message)
    return result
  }

  /** A query that failed. What a dead store does to all of them is said once, by its banner. */
  const report = (error: unknown): void => {
    set({ error: sentenceOf(error) })
    if (get().desktop?.store.status !== 'crashed') tell('error', sentenceOf(error))
  }

  /** Changes what is shown: what is selected is of that, is kept when one leaves it and comes back with it. */
  const moveTo = (id: string | null, change: () => void): void => {
    const from = shownId()
    if (from !== null && from !== id) useOpen.getState().leave(from, selectionNow())
    change()
    if (from !== id) useSelection.getState().select(id === null ? NO_SELECTION : selectionLeft(id))
  }

  const openNew = async (result: CommandResult): Promise<CommandResult> => {
    await get().takeOpened(result)
    return result
  }

  const showSweep = (result: CommandResult): CommandResult => {
    if (result.ok) useView.getState().show('throughput')
    return result
  }

  /** Number of the last question about the open run, and of the newest that was answered: an overtaken answer is dropped. */
  let asked = 0
  let taken = 0

  return {
    desktop: null,
    runs: [],
    openRun: null,
    openId: null,
    progress: null,
    error: null,
    openRunById: async (id, how) => {
      if (get().openId !== id)
        moveTo(id, () => {
          useOpen.getState().add({ kind: 'run', id })
          useDump.getState().show(null)
          set({ openId: id, openRun: null, progress: null, error: null })
        })
      const question = ++asked
      try {
        const info = await request('runInfo', { run: id })
        if (get().openId === id && question > taken) {
          taken = question
          const { openRun, desktop } = get()
          set({ openRun: info, error: null })
          // Nothing else shows what a sweep has.
          if (openRun === null && info.manifest.sweep !== undefined && how?.stay !== true)
            useView.getState().show('throughput')
          // Not of a run of this session, which is told of in other words. Puts an error of an earlier try behind.
          if (openRun === null && !isOfSession(desktop, id)) tell('info', `Opened ${info.manifest.name}.`)
        }
      } catch (error) {
        const { openId, desktop } = get()
        // A run that has just been started is not yet known to the store: its progress brings it. One that ended
        // before it wrote anything never will be, and its end was told.
        if (openId !== id || isOfSession(desktop, id)) return
        report(error)
      }
    },
    leaveRun: () =>
      moveTo(useDump.getState().dump, () => set({ openId: null, openRun: null, progress: null })),
    showItem: ({ kind, id }, how) => {
      if (kind === 'dump') get().showDump(id, how)
      else if (get().openId === id) moveTo(id, () => useDump.getState().show(null))
      else void get().openRunById(id, how)
    },
    showNeighbour: (by) => {
      const next = neighbour(useOpen.getState().items, shownId(), by)
      if (next !== undefined) get().showItem(next)
    },
    closeItem: (id) => {
      const { items, remove } = useOpen.getState()
      const others = items.filter((item) => item.id !== id)
      const next = neighbour(items, id, -1)
      const shown = shownId() === id
      if (useDump.getState().dump === id) useDump.getState().show(null)
      if (get().openId === id) get().leaveRun()
      remove(id)
      if (shown && others.length > 0 && next !== undefined) get().showItem(next)
      if (shown && others.length === 0) useSelection.getState().clear()
    },
    takeOpened: async (result) => {
      if (!result.ok) return
      const { run, others = [], dump, refused = [] } = result
      for (const sentence of refused) tell('error', sentence)
      if (dump !== undefined) get().showDump(dump)
      if (run === undefined) return
      const opening = get().openRunById(run)
      for (const id of others) useOpen.getState().add({ kind: 'run', id })
      if (others.length > 0)
        tell('info', `Opened ${others.length + 1} bundles; Ctrl+Tab goes from one to the next.`)
      void get().refreshRuns()
      await opening
    },
    refreshRuns: async () => {
      try {
        set({ runs: await request('listRuns', {}) })
      } catch (error) {
        report(error)
      }
    },
    startRun: async (config) => {
      const result = await command(() => desktop().invoke('startRun', { config }))
      return openNew(result)
    },
    pause: () => command(() => desktop().invoke('pauseRun', {})),
    resume: () => command(() => desktop().invoke('resumeRun', {})),
    stop: () => command(() => desktop().invoke('stopRun', {})),
    startSweep: async (config) =>
      showSweep(await openNew(await command(() => desktop().invoke('startSweep', { config })))),
    pauseSweep: () => command(() => desktop().invoke('pauseSweep', {})),
    resumeSweep: async (run) =>
      showSweep(await openNew(await command(() => desktop().invoke('resumeSweep', { run })))),
    restart: (process) => command(() => desktop().invoke('restart', { process })),
    rerunWithCapture: async (step, layer) => {
      const open = get().openRun
      if (open === null) return refusal('No run is open.')
      return get().startRun(recaptureConfig(open.manifest.config, step, layer))
    },
    openBundle: async () => openNew(await command(() => desktop().invoke('openBundle', {}))),
    openDump: async (pick) => openNew(await command(() => desktop().invoke('openDump', { pick }))),
    showDump: (dump, how) => {
      moveTo(dump, () => {
        useOpen.getState().add({ kind: 'dump', id: dump })
        useDump.getState().show(dump)
      })
      if (how?.stay === true) return
      useDump.getState().look('findings')
      useView.getState().show('postmortem')
    },
    forgetDump: (dump) => {
      get().closeItem(dump)
      return command(() => desktop().invoke('forgetDump', { dump }))
    },
    revealRun: (run) => command(() => desktop().invoke('revealRun', { run })),
    saveFile: async (name, content) => {
      const result = await command(() => desktop().invoke('saveFile', { name, content }))
      if (result.ok && result.saved !== undefined) tell('info', `Saved ${result.saved}.`)
      return result
    },
    take: (parts) => set(parts),
  }
})
