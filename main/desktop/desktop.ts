import { cpus } from 'node:os'
import { join } from 'node:path'
import { app, type BrowserWindow, ipcMain, type MessagePortMain, nativeTheme, shell } from 'electron'
import { CHANNEL } from '../../app/protocol/channels.ts'
import type { DesktopState } from '../../app/protocol/desktop.ts'
import { runsFolder } from '../process/runs-folder.ts'
import { VERSION } from '../process/version.ts'
import { APP_ORIGIN } from './assets.ts'
import { bundlesIn } from './bundles.ts'
import { type CommandServices, desktopHandlers, openBundle } from './commands.ts'
import { addDevPolicy } from './dev-server.ts'
import { electronForge } from './electron-forge.ts'
import { bundleArgument, chooseBundle, showFolder } from './folders.ts'
import { openGateway } from './gateway.ts'
import { markInterrupted } from './mark-interrupted.ts'
import { setMenu } from './menu.ts'
import { quitCleanly } from './quit.ts'
import { watchPage } from './recovery.ts'
import { serveScheme } from './scheme.ts'
import { type SettingsFile, settingsFile } from './settings.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'
import { backgroundColour, createWindow } from './window.ts'

export interface DesktopOptions {
  /** Folder of the built scripts: preload, hosts and the page in `renderer`. */
  readonly folder: string
  /** Origin of the dev server, undefined for the built page. */
  readonly developing: string | undefined
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

const supervisorOf = (window: BrowserWindow, runs: string, options: DesktopOptions): DesktopSupervisor =>
  createSupervisor({
    forge: electronForge(options.folder),
    runsFolder: runs,
    runtime: runtime(),
    onState: (state) => {
      if (!window.isDestroyed()) window.webContents.send(CHANNEL.state, state)
    },
    complain: options.complain,
    markInterrupted: (bundle, reason) => markInterrupted(bundle, reason, options.complain),
  })

const servicesOf = (
  window: BrowserWindow,
  runs: string,
  supervisor: DesktopSupervisor,
  settings: SettingsFile,
): CommandServices => ({
  supervisor,
  runsFolder: runs,
  bundles: bundlesIn(runs),
  chooseBundle: () => chooseBundle(window, runs),
  showInFolder: (path) => shell.showItemInFolder(path),
  setTheme: (theme) => {
    settings.set({ theme })
    nativeTheme.themeSource = theme
  },
})

const connectPage = (
  window: BrowserWindow,
  supervisor: DesktopSupervisor,
  services: CommandServices,
  { developing, complain }: DesktopOptions,
): void =>
  openGateway({
    ipc: ipcMain,
    contents: () => (window.isDestroyed() ? undefined : window.webContents),
    origins: developing === undefined ? [APP_ORIGIN] : [developing],
    handlers: desktopHandlers(services),
    state: supervisor.state,
    sendPort: () => {
      const port = supervisor.clientPort()
      if (port !== undefined) window.webContents.postMessage(CHANNEL.port, null, [port])
    },
    complain,
  })

/** Brings up window, page and processes. Once, after the app is ready. */
export const startDesktop = (options: DesktopOptions): void => {
  const { folder, developing, complain } = options
  const runs = runsFolder()
  const settings = settingsFile(join(app.getPath('userData'), 'window.json'), complain)
  nativeTheme.themeSource = settings.get().theme
  serveScheme(join(folder, 'renderer'))
  if (developing !== undefined) addDevPolicy(developing)

  const window = createWindow(folder, settings)
  const supervisor = supervisorOf(window, runs, options)
  const services = servicesOf(window, runs, supervisor, settings)
  connectPage(window, supervisor, services, options)

  const complainOf = (error: unknown): void =>
    complain(error instanceof Error ? error.message : String(error))
  const load = (): void => {
    window.loadURL(developing ?? `${APP_ORIGIN}/`).catch(complainOf)
  }
  const open = (bundle: string | undefined): void => {
    if (bundle !== undefined) openBundle(services, bundle).then(supervisor.announce, complainOf)
  }
  watchPage(window, load)
  load()
  // At once with the page: both need a good part of a second, on different cores.
  supervisor.start()
  setMenu({
    openBundle: () => {
      services.chooseBundle().then(open, complainOf)
    },
    showRunsFolder: () => {
      showFolder(runs).catch(complainOf)
    },
    developing: developing !== undefined,
  })
  open(bundleArgument(process.argv, process.cwd()))
  app.on('second-instance', (_event, argv, cwd) => {
    if (window.isDestroyed()) return
    if (window.isMinimized()) window.restore()
    window.focus()
    open(bundleArgument(argv, cwd))
  })
  nativeTheme.on('updated', () => {
    if (!window.isDestroyed()) window.setBackgroundColor(backgroundColour())
  })
  quitCleanly(supervisor, complain)
}
