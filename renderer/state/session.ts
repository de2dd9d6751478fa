import { create } from 'zustand'
import type { CommandResult, DesktopState } from '../../app/protocol/desktop.ts'
import type { Progress, RunInfo, RunRef } from '../../app/protocol/store.ts'
import { desktop } from '../bridge/bridge.ts'
import { useDump } from './dump.ts'
import { tell } from './messages.ts'
import { recaptureConfig } from './recapture.ts'
import { useSelection } from './selection.ts'
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
  readonly closeRun: () => void
  readonly refreshRuns: () => Promise<void>
  /** Starts a run and opens it at once. */
  readonly startRun: (config: unknown) => Promise<CommandResult>
  readonly pause: () => Promise<CommandResult>
  readonly resume: () => Promise<CommandResult>
  readonly stop: () => Promise<CommandResult>
  readonly restart: (process: 'engine' | 'store') => Promise<CommandResult>
  /** Runs the configuration of the open run again and keeps the tensors of this step and layer. */
  readonly rerunWithCapture: (step: number, layer: number) => Promise<CommandResult>
  /** Asks for a bundle folder and opens it. */
  readonly openBundle: () => Promise<CommandResult>
  /** Asks for files or folders of a dump and opens it. */
  readonly openDump: (pick: 'files' | 'folder') => Promise<CommandResult>
  /** Shows a dump that main knows in Post-mortem. */
  readonly showDump: (dump: string) => void
  readonly forgetDump: (dump: string) => Promise<CommandResult>
  readonly revealRun: (run: string) => Promise<CommandResult>
  /** Asks where to save a text and tells where it is; `name` is what the file is called unless the person says otherwise. */
  readonly saveText: (name: string, text: string) => Promise<CommandResult>
  readonly take: (
    parts: Partial<Pick<Session, 'desktop' | 'runs' | 'openRun' | 'progress' | 'error'>>,
  ) => void
}

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const refusal = (message: string): CommandResult => ({ ok: false, message, issues: [] })

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

  const openNew = async (result: CommandResult): Promise<CommandResult> => {
    if (result.ok && result.dump !== undefined) get().showDump(result.dump)
    if (result.ok && result.run !== undefined) {
      const opening = get().openRunById(result.run)
      void get().refreshRuns()
      await opening
    }
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
      if (get().openId !== id) {
        useSelection.getState().clear()
        useDump.getState().show(null)
        set({ openId: id, openRun: null, progress: null, error: null })
      }
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
          if (openRun === null && desktop?.activeRun?.id !== id && desktop?.lastRun?.id !== id)
            tell('info', `Opened ${info.manifest.name}.`)
        }
      } catch (error) {
        const { openId, desktop } = get()
        // A run that has just been started is not yet known to the store: its progress brings it. One that ended
        // before it wrote anything never will be, and its end was told.
        if (openId !== id || desktop?.activeRun?.id === id || desktop?.lastRun?.id === id) return
        report(error)
      }
    },
    closeRun: () => {
      useSelection.getState().clear()
      set({ openId: null, openRun: null, progress: null })
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
    restart: (process) => command(() => desktop().invoke('restart', { process })),
    rerunWithCapture: async (step, layer) => {
      const open = get().openRun
      if (open === null) return refusal('No run is open.')
      return get().startRun(recaptureConfig(open.manifest.config, step, layer))
    },
    openBundle: async () => openNew(await command(() => desktop().invoke('openBundle', {}))),
    openDump: async (pick) => openNew(await command(() => desktop().invoke('openDump', { pick }))),
    showDump: (dump) => {
      if (useDump.getState().dump !== dump) useSelection.getState().clear()
      useDump.getState().show(dump)
      useDump.getState().look('findings')
      useView.getState().show('postmortem')
    },
    forgetDump: (dump) => {
      if (useDump.getState().dump === dump) useDump.getState().show(null)
      return command(() => desktop().invoke('forgetDump', { dump }))
    },
    revealRun: (run) => command(() => desktop().invoke('revealRun', { run })),
    saveText: async (name, text) => {
      const result = await command(() => desktop().invoke('saveText', { name, text }))
      if (result.ok && result.saved !== undefined) tell('info', `Saved ${result.saved}.`)
      return result
    },
    take: (parts) => set(parts),
  }
})
