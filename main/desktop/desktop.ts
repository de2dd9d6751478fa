import { cpus } from 'node:os'
import { join } from 'node:path'
import { app, type BrowserWindow, type MessagePortMain, nativeTheme, shell } from 'electron'
import { CHANNEL } from '../../app/protocol/channels.ts'
import type { DesktopState } from '../../app/protocol/desktop.ts'
import { runsFolder } from '../process/runs-folder.ts'
import { VERSION } from '../process/version.ts'
import { type Bundles, bundlesIn } from './bundles.ts'
import { type CommandServices, desktopHandlers, openBundles, openPaths } from './commands.ts'
import { openedDumps } from './dumps.ts'
import { electronForge } from './electron-forge.ts'
import { chooseBundles, chooseDump, saveFile, showFolder } from './folders.ts'
import type { PageServices } from './gateway.ts'
import { type KeptSettings, keptSettings } from './kept-settings.ts'
import { linkArguments } from './links.ts'
import { markInterrupted } from './mark-interrupted.ts'
import { setMenu } from './menu.ts'
import { pageServices } from './page-services.ts'
import { pathArguments } from './paths.ts'
import { quitCleanly } from './quit.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'
import type { WindowFile } from './window-state.ts'

export interface DesktopOptions {
  /** Folder of the built scripts: preload and hosts. */
  readonly folder: string
  /** Origin of the dev server, undefined for the built page. */
  readonly developing: string | undefined
  /** Calls back with each link that the system hands to the app. */
  readonly onLink: (listener: (link: string) => void) => void
  /** Calls back with each file or folder that the system hands to the app. */
  readonly onPath: (listener: (path: string) => void) => void
  readonly complain: (sentence: string) => void
}

type DesktopSupervisor = Supervisor<MessagePortMain>

const runtime = (): DesktopState['runtime'] => ({
  app: VERSION,
  electron: process.versions.electron ?? '',
  chrome: process.versions.chrome ?? '',
  node: process.versions.node,
  engine: '',
  device: cpus()[0]?.model.trim() ?? '',
})

const supervisorOf = (
  window: BrowserWindow,
  runs: string,
  bundles: Bundles,
  kept: KeptSettings,
  options: DesktopOptions,
): DesktopSupervisor =>
  createSupervisor({
    forge: electronForge(options.folder),
    runsFolder: runs,
    bundles,
    dumps: openedDumps(join(app.getPath('userData'), 'dumps.json'), options.complain),
    runtime: runtime(),
    settings: kept,
    onState: (state) => {
      if (!window.isDestroyed()) window.webContents.send(CHANNEL.state, state)
    },
    complain: options.complain,
    markInterrupted: (bundle, reason) => markInterrupted(bundle, reason, options.complain),
  })

const servicesOf = (
  window: BrowserWindow,
  runs: string,
  bundles: Bundles,
  supervisor: DesktopSupervisor,
  kept: KeptSettings,
  state: WindowFile,
): CommandServices => ({
  supervisor,
  runsFolder: runs,
  bundles,
  chooseBundles: () => chooseBundles(window, runs),
  chooseDump: (pick) => chooseDump(window, pick),
  saveFile: (name, content) => saveFile(window, name, content),
  showInFolder: (path) => shell.showItemInFolder(path),
  changeSettings: (change) => {
    try {
      kept.set(change)
    } finally {
      const { theme } = kept.get()
      // The window needs it before there is time for the other settings.
      state.set({ theme })
      nativeTheme.themeSource = theme
      supervisor.settingsChanged()
    }
  },
})

const servicesOfPage = (
  window: BrowserWindow,
  supervisor: DesktopSupervisor,
  services: CommandServices,
  open: (paths: readonly string[]) => void,
): PageServices =>
  pageServices({
    handlers: desktopHandlers(services),
    state: supervisor.state,
    sendPort: () => {
      const port = supervisor.clientPort()
      if (port !== undefined) window.webContents.postMessage(CHANNEL.port, null, [port])
    },
    dropped: open,
  })

/** Gives a window its processes, its commands and its menu. Once; answers with what answers its page. */
export const startDesktop = (
  window: BrowserWindow,
  state: WindowFile,
  options: DesktopOptions,
): PageServices => {
  const { complain } = options
  const runs = runsFolder()
  const bundles = bundlesIn(runs, join(app.getPath('userData'), 'bundles.json'), complain)
  const kept = keptSettings(join(app.getPath('userData'), 'settings.json'))
  if (kept.problem !== undefined) complain(kept.problem)
  nativeTheme.themeSource = kept.get().theme
  const supervisor = supervisorOf(window, runs, bundles, kept, options)
  supervisor.start()
  const services = servicesOf(window, runs, bundles, supervisor, kept, state)
  const complainOf = (error: unknown): void =>
    complain(error instanceof Error ? error.message : String(error))
  const open = async (paths: readonly string[]): Promise<void> => {
    if (paths.length > 0) await openPaths(services, paths).then(supervisor.announce).catch(complainOf)
  }
  /** What was chosen as bundles: a folder that is none is refused, not taken for a dump. */
  const openChosen = async (folders: readonly string[]): Promise<void> => {
    if (folders.length > 0) await openBundles(services, folders).then(supervisor.announce)
  }
  /** What is opened comes first: a link may be to it. */
  const openArguments = async (argv: readonly string[], cwd: string): Promise<void> => {
    await open(pathArguments(argv, cwd, app.getAppPath()))
    linkArguments(argv).forEach(supervisor.follow)
  }
  setMenu({
    openBundle: () => {
      services.chooseBundles().then(openChosen).catch(complainOf)
    },
    openDump: (pick) => {
      services.chooseDump(pick).then(open).catch(complainOf)
    },
    showRunsFolder: () => {
      showFolder(runs).catch(complainOf)
    },
    developing: options.developing !== undefined,
  })
  void openArguments(process.argv.slice(1), process.cwd())
  options.onLink(supervisor.follow)
  options.onPath((path) => void open([path]))
  app.on('second-instance', (_event, argv, cwd) => {
    if (window.isDestroyed()) return
    if (window.isMinimized()) window.restore()
    window.focus()
    void openArguments(argv.slice(1), cwd)
  })
  quitCleanly(supervisor, complain)
  return servicesOfPage(window, supervisor, services, open)
}
