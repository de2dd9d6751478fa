import { join } from 'node:path'
import { app, type BrowserWindow, ipcMain, nativeTheme } from 'electron'
import { APP_ORIGIN } from './assets.ts'
import { addDevPolicy, devServer } from './dev-server.ts'
import { openGateway } from './gateway.ts'
import { LINK_SCHEME, linksOfSystem, pathsOfSystem } from './links.ts'
import { watchPage } from './recovery.ts'
import { registerScheme, serveScheme } from './scheme.ts'
import { lockDown } from './security.ts'
import { originOf } from './url.ts'
import { backgroundColour, createWindow } from './window.ts'
import { type WindowFile, windowFile } from './window-state.ts'

/**
 * Entry of the Electron main process: the way to the first paint. Everything that this needs is small and stands
 * here; the rest is read when the page, once it is drawn, asks for the first time.
 */

const complain = (sentence: string): void => {
  process.stderr.write(`dcpscope: ${sentence}\n`)
}

const developing = devServer()

const openWindow = (state: WindowFile): { window: BrowserWindow; load: () => void } => {
  nativeTheme.themeSource = state.get().theme
  serveScheme(join(__dirname, 'renderer'))
  if (developing !== undefined) addDevPolicy(developing)
  const window = createWindow(__dirname, state)
  nativeTheme.on('updated', () => {
    if (!window.isDestroyed()) window.setBackgroundColor(backgroundColour())
  })
  const load = (): void => {
    window
      .loadURL(developing ?? `${APP_ORIGIN}/`)
      .catch((error: unknown) => complain(error instanceof Error ? error.message : String(error)))
  }
  return { window, load }
}

const start = async (): Promise<void> => {
  await app.whenReady()
  const state = windowFile(join(app.getPath('userData'), 'window.json'), complain)
  const { window, load } = openWindow(state)
  openGateway({
    ipc: ipcMain,
    contents: () => (window.isDestroyed() ? undefined : window.webContents),
    origins: [developing ?? APP_ORIGIN],
    services: async () => {
      const { startDesktop } = await import('./desktop.ts')
      return startDesktop(window, state, { folder: __dirname, developing, onLink, onPath, complain })
    },
    complain,
  })
  watchPage(window, load)
  load()
}

const onLink = linksOfSystem(app)
const onPath = pathsOfSystem(app)
// Not of a checkout, which would take the place of an installed app.
if (app.isPackaged) app.setAsDefaultProtocolClient(LINK_SCHEME)
registerScheme()
lockDown((url) => originOf(url) === (developing ?? APP_ORIGIN) && new URL(url).pathname === '/')

if (app.requestSingleInstanceLock())
  start().catch((error: unknown) => {
    complain(error instanceof Error ? (error.stack ?? error.message) : String(error))
    app.exit(1)
  })
else app.quit()
