import { app, Menu, type MenuItemConstructorOptions } from 'electron'

export interface MenuActions {
  readonly openBundle: () => void
  readonly openDump: (pick: 'files' | 'folder') => void
  readonly showRunsFolder: () => void
  /** Reload and developer tools are there while developing only. */
  readonly developing: boolean
}

/** The application menu: what a window offers anyway, at the places where the platform's users look for it. */
export const setMenu = ({ openBundle, openDump, showRunsFolder, developing }: MenuActions): void => {
  const file: MenuItemConstructorOptions = {
    label: '&File',
    submenu: [
      { label: '&Open bundles…', accelerator: 'CmdOrCtrl+O', click: openBundle },
      {
        label: 'Open dump &files…',
        accelerator: 'CmdOrCtrl+Shift+O',
        click: () => openDump('files'),
      },
      { label: 'Open dump f&older…', click: () => openDump('folder') },
      { label: 'Show &runs folder', click: showRunsFolder },
      { type: 'separator' },
      { role: 'quit' },
    ],
  }
  const view: MenuItemConstructorOptions = {
    label: '&View',
    submenu: [
      ...(developing ? developerItems : []),
      { role: 'resetZoom', accelerator: 'CmdOrCtrl+Alt+0' },
      { role: 'zoomIn' },
      { role: 'zoomOut' },
      { type: 'separator' },
      { role: 'togglefullscreen' },
    ],
  }
  const mac: MenuItemConstructorOptions[] = process.platform === 'darwin' ? [{ role: 'appMenu' }] : []
  Menu.setApplicationMenu(Menu.buildFromTemplate([...mac, file, { role: 'editMenu' }, view]))
  app.setAboutPanelOptions({ applicationName: 'dcpscope', applicationVersion: app.getVersion() })
}

const developerItems: MenuItemConstructorOptions[] = [
  { role: 'reload' },
  { role: 'toggleDevTools' },
  { type: 'separator' },
]
