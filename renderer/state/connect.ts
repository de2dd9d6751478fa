import { STORE_PORT } from '../../app/protocol/channels.ts'
import type { DesktopBridge, DesktopState } from '../../app/protocol/desktop.ts'
import type { Progress } from '../../app/protocol/store.ts'
import { SETTING_NAMES, type Settings } from '../../app/settings/settings.ts'
import { followLink, followWaitingLinks } from './follow-link.ts'
import { followSweeps } from './follow-sweeps.ts'
import { useRunForm } from './form.ts'
import { tell } from './messages.ts'
import { endText } from './run-state.ts'
import { useSession } from './session.ts'
import { useSettings } from './settings.ts'
import { client, clientPort } from './store-connection.ts'
import { useSweepForm } from './sweep-form.ts'

/** Least time between two reads of a growing run's information. */
const REFRESH_MS = 1000

/** A store with another process id is another store: the port to the former one is dead. */
const storeKey = ({ store }: DesktopState): string =>
  store.status === 'ready' ? `ready ${store.pid}` : store.status

const followStore = (bridge: DesktopBridge, before: DesktopState | null, now: DesktopState): void => {
  if (before !== null && storeKey(before) === storeKey(now)) return
  switch (now.store.status) {
    case 'starting':
      client.expect()
      break
    case 'crashed':
      client.disconnect(`The store process ended: ${now.store.message}`)
      break
    case 'ready':
      client.expect()
      bridge.requestStorePort()
      break
  }
}

/** Tells the person what happened between two states, once each. */
const announce = (before: DesktopState | null, now: DesktopState): void => {
  for (const process of ['engine', 'store'] as const) {
    const state = now[process]
    if (state.status === 'crashed' && before?.[process].status !== 'crashed') tell('error', state.message)
    if (state.status !== 'crashed' && before?.[process].status === 'crashed')
      tell('info', `The ${process} starts again.`)
  }
  if (now.lastRun !== null && now.lastRun.id !== before?.lastRun?.id) {
    const { status, error } = now.lastRun
    tell(
      status === 'complete' || status === 'stopped' ? 'info' : 'error',
      endText(status, error, useSession.getState().openRun?.id === now.lastRun.id ? true : null),
    )
  }
}

const followRuns = (before: DesktopState | null, now: DesktopState): void => {
  const { openId, openRunById, refreshRuns, takeOpened } = useSession.getState()
  // A page that was loaded again in the middle of a run finds it.
  if (before === null && openId === null && now.activeRun !== null) void openRunById(now.activeRun.id)
  if (now.lastRun !== null && now.lastRun.id !== before?.lastRun?.id) {
    void refreshRuns()
    if (now.lastRun.id === openId) void openRunById(now.lastRun.id)
  }
  const { opened } = now
  if (opened === undefined || opened.seq === before?.opened?.seq) return
  if (!opened.result.ok) tell('error', opened.result.message)
  else void takeOpened(opened.result)
}

const followLinks = (before: DesktopState | null, now: DesktopState): void => {
  if (now.link !== undefined && now.link.seq !== before?.link?.seq) void followLink(now.link.text)
}

/** Keeps the open run's numbers fresh from the store's progress. */
const followProgress = (): ((progress: Progress) => void) => {
  let refreshedAt = 0
  return (progress) => {
    const { openId, openRun, openRunById, take } = useSession.getState()
    if (progress.id !== openId) return
    take({ progress })
    const ended = progress.status !== 'running'
    const now = performance.now()
    if (openRun !== null && !ended && now - refreshedAt < REFRESH_MS) return
    refreshedAt = now
    void openRunById(progress.id)
  }
}

const isPortMessage = (event: MessageEvent<unknown>): boolean =>
  event.source === window &&
  typeof event.data === 'object' &&
  event.data !== null &&
  'type' in event.data &&
  event.data.type === STORE_PORT

/** While settings come from main, they need not go there. */
let takesSettings = false

/** What main kept holds; the page may have been loaded with a copy of other settings. */
const takeSettings = ({ settings, settingsProblem }: DesktopState): void => {
  takesSettings = true
  useSettings.getState().change(settings)
  takesSettings = false
  if (settingsProblem !== undefined) tell('warning', settingsProblem)
}

/** Sends what has changed to main, which keeps it. */
const keepSettings = async (bridge: DesktopBridge, now: Settings, before: Settings): Promise<void> => {
  const change = Object.fromEntries(
    SETTING_NAMES.filter((name) => now[name] !== before[name]).map((name) => [name, now[name]]),
  )
  if (Object.keys(change).length === 0) return
  const result = await bridge.invoke('changeSettings', { change }).catch((error: unknown) => ({
    ok: false,
    message: error instanceof Error ? error.message : String(error),
  }))
  if (!result.ok && 'message' in result) tell('warning', result.message)
}

/** Wires the page's state to the main process and the store. Once, before the first render. */
export const connectPage = (): void => {
  const bridge = window.dcpscope
  if (bridge === undefined) {
    tell('error', 'This page works only inside the dcpscope window.')
    return
  }
  window.addEventListener('message', (event: MessageEvent<unknown>) => {
    const port = event.ports[0]
    if (isPortMessage(event) && port !== undefined) client.connect(clientPort(port))
  })
  followWaitingLinks()
  client.onProgress(followProgress())
  client.onConnect(() => {
    const { openId, openRunById, refreshRuns } = useSession.getState()
    void refreshRuns()
    if (openId !== null) void openRunById(openId)
  })
  const take = (now: DesktopState): void => {
    const before = useSession.getState().desktop
    useSession.getState().take({ desktop: now })
    useRunForm.getState().know(now.machine?.cuda)
    useSweepForm.getState().know(now.machine?.cuda)
    if (before === null) takeSettings(now)
    followStore(bridge, before, now)
    announce(before, now)
    followRuns(before, now)
    followSweeps(before, now)
    followLinks(before, now)
  }
  bridge.onState(take)
  bridge.getState().then(
    (state) => {
      // A state that was pushed meanwhile is newer.
      if (useSession.getState().desktop === null) take(state)
    },
    (error: unknown) => tell('error', error instanceof Error ? error.message : String(error)),
  )
  useSettings.subscribe(({ settings }, before) => {
    if (!takesSettings) void keepSettings(bridge, settings, before.settings)
  })
}
