import { join } from 'node:path'
import { BrowserWindow, nativeTheme, screen } from 'electron'
import { visibleBounds, type WindowFile } from './window-state.ts'

const SIZE = { width: 1280, height: 800 }
const LEAST = { minWidth: 900, minHeight: 560 }
/** --bg-0 of the themes, so that the window is not white before the first paint. */
const BACKGROUND = { dark: '#14161a', light: '#f7f8fa' }

export const backgroundColour = (): string =>
  nativeTheme.shouldUseDarkColors ? BACKGROUND.dark : BACKGROUND.light

/** The window, not yet loaded: shown at once, empty in the colour of the theme. */
export const createWindow = (folder: string, state: WindowFile): BrowserWindow => {
  const { bounds, maximized } = state.get()
  const areas = screen.getAllDisplays().map((display) => display.workArea)
  const window = new BrowserWindow({
    ...SIZE,
    ...visibleBounds(bounds, areas),
    ...LEAST,
    title: 'dcpscope',
    backgroundColor: backgroundColour(),
    autoHideMenuBar: true,
    webPreferences: {
      preload: join(folder, 'preload.js'),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      webviewTag: false,
      navigateOnDragDrop: false,
      spellcheck: false,
    },
  })
  if (maximized) window.maximize()
  window.on('close', () => state.set({ bounds: window.getNormalBounds(), maximized: window.isMaximized() }))
  return window
}
