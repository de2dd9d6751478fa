import { mkdir } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import {
  app,
  type BrowserWindow,
  dialog,
  ipcMain,
  type MessagePortMain,
  nativeTheme,
  type Session,
  session,
  shell,
} from 'electron'
import { CHANNEL } from '../../app/protocol/channels.ts'
import type { DesktopState } from '../../app/protocol/desktop.ts'
import { runsFolder } from '../process/runs-folder.ts'
import { VERSION } from '../process/version.ts'
import { APP_ORIGIN } from './assets.ts'
import { bundlesIn } from './bundles.ts'
import { type CommandServices, desktopHandlers, openBundle } from './commands.ts'
import { devCsp, devOrigin } from './csp.ts'
import { electronForge } from './electron-forge.ts'
import { openGateway } from './gateway.ts'
import { markInterrupted } from './mark-interrupted.ts'
import { setMenu } from './menu.ts'
import { watchPage } from './recovery.ts'
import { registerScheme, serveScheme } from './scheme.ts'
import { lockDown } from './security.ts'
import { settingsFile } from './settings.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'
import { originOf } from './url.ts'
import { backgroundColour, createWindow } from './window.ts'

/** A run that does not stop within this time is left to its bundle, which stays readable. */
const STOP_MS = 5000

const complain = (sentence: string): void => {
  process.stderr.write(`dcpscope: ${sentence}\n`)
}

/** Address of the dev server; a packaged app never loads one. */
const developing = app.isPackaged ? undefined : devOrigin(process.env.DCPSCOPE_DEV_URL)
const origins = developing === undefined ? [APP_ORIGIN] : [APP_ORIGIN, developing]
const pageUrl = developing ?? `${APP_ORIGIN}/`

const runtime = (): DesktopState['runtime'] => ({
  app: VERSION,
  electron: process.versions.electron ?? '',
  chrome: process.versions.chrome ?? '',
  node: process.versions.node,
  engine: '',
  device: cpus()[0]?.model.trim() ?? '',
})

const bundleArgument = (argv: readonly string[], folder: string): string | undefined => {
  const given = argv.find((argument) => !argument.startsWith('-') && argument.endsWith('.dcp'))
  return given === undefined ? undefined : resolve(folder, given)
}

const stateSender =
  (window: BrowserWindow) =>
  (state: DesktopState): void => {
    if (!window.isDestroyed()) window.webContents.send(CHANNEL.state, state)
  }

const start = (): void => {
  const folder = runsFolder()
  const settings = settingsFile(join(app.getPath('userData'), 'window.json'), complain)
  nativeTheme.themeSource = settings.get().theme
  serveScheme(join(__dirname, 'renderer'))
  if (developing !== undefined) setHeaders(session.defaultSession, devCsp(developing))

  const window = createWindow(__dirname, settings)
  const load = (): void => {
    window.loadURL(pageUrl).catch((error: unknown) => complain(`cannot load ${pageUrl}: ${String(error)}`))
  }
  const supervisor = createSupervisor<MessagePortMain>({
    forge: electronForge(__dirname),
    runsFolder: folder,
    runtime: runtime(),
    onState: stateSender(window),
    complain,
    markInterrupted: (bundle, reason) => markInterrupted(bundle, reason, complain),
  })
  const services: CommandServices = {
    supervisor,
    runsFolder: folder,
    bundles: bundlesIn(folder),
    chooseBundle: () => chooseBundle(window, folder),
    showInFolder: (path) => shell.showItemInFolder(path),
    setTheme: (theme) => {
      settings.set({ theme })
      nativeTheme.themeSource = theme
    },
  }
  openGateway({
    ipc: ipcMain,
    contents: () => (window.isDestroyed() ? undefined : window.webContents),
    origins,
    handlers: desktopHandlers(services),
    state: supervisor.state,
    sendPort: () => {
      const port = supervisor.clientPort()
      if (port !== undefined) window.webContents.postMessage(CHANNEL.port, null, [port])
    },
    complain,
  })

  const open = (bundle: string | undefined): void => {
    if (bundle === undefined) return
    openBundle(services, bundle).then(supervisor.announce, (error: unknown) => complain(String(error)))
  }
  setMenu({
    openBundle: () => {
      chooseBundle(window, folder).then(open, (error: unknown) => complain(String(error)))
    },
    showRunsFolder: () => showRunsFolder(folder),
    developing: developing !== undefined,
  })
  watchPage(window, load)
  load()
  supervisor.start()
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
  quitCleanly(supervisor)
}

const chooseBundle = async (window: BrowserWindow, folder: string): Promise<string | undefined> => {
  const { filePaths } = await dialog.showOpenDialog(window, {
    title: 'Open a run bundle',
    defaultPath: folder,
    buttonLabel: 'Open bundle',
    properties: ['openDirectory'],
  })
  return filePaths[0]
}

const showRunsFolder = async (folder: string): Promise<void> => {
  const trouble = await mkdir(folder, { recursive: true }).then(() => shell.openPath(folder), String)
  if (trouble !== '') complain(`cannot show ${folder}: ${trouble}`)
}

/** A run in progress is stopped before the app ends, so that its bundle says `stopped`. */
const quitCleanly = (supervisor: Pick<Supervisor<unknown>, 'shutDown'>): void => {
  let ending = false
  app.on('before-quit', (event) => {
    if (ending) return
    ending = true
    event.preventDefault()
    supervisor.shutDown(STOP_MS).then(
      () => app.quit(),
      (error: unknown) => {
        complain(String(error))
        app.exit(1)
      },
    )
  })
  app.on('window-all-closed', () => app.quit())
}

/** The dev server does not send our policy; it is added on arrival. */
const setHeaders = (target: Session, policy: string): void =>
  target.webRequest.onHeadersReceived((details, answer) =>
    answer({ responseHeaders: { ...details.responseHeaders, 'content-security-policy': [policy] } }),
  )

registerScheme()
lockDown((url) => origins.includes(originOf(url)) && new URL(url).pathname === '/')
if (app.requestSingleInstanceLock())
  app.whenReady().then(start, (error: unknown) => {
    complain(String(error))
    app.exit(1)
  })
else app.quit()
