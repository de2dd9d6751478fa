import * as electron from 'electron'
import { CHANNEL, STORE_PORT } from '../../app/protocol/channels.ts'
import type { DesktopBridge, DesktopState } from '../../app/protocol/desktop.ts'

const { contextBridge, ipcRenderer } = electron

/** Of the page's globals, all that the preload touches; the rooms of main have no DOM types. */
declare const location: { readonly origin: string }
declare const window: {
  postMessage(message: unknown, targetOrigin: string, ports: readonly unknown[]): void
  addEventListener(type: 'dragenter' | 'dragover' | 'drop', listener: (event: DragOfFiles) => void): void
}
interface DragOfFiles {
  readonly dataTransfer: {
    readonly types: readonly string[]
    readonly files: ArrayLike<object>
    dropEffect: string
  } | null
  preventDefault(): void
}

/** Path of a file on disk, '' of one that the page made. Electron before 29 has it on the file itself. */
const pathOf = (file: object): string => {
  const utils: unknown = Reflect.get(electron, 'webUtils')
  const path: unknown =
    typeof utils === 'object' &&
    utils !== null &&
    'getPathForFile' in utils &&
    typeof utils.getPathForFile === 'function'
      ? utils.getPathForFile(file)
      : Reflect.get(file, 'path')
  return typeof path === 'string' ? path : ''
}

const bridge: DesktopBridge = {
  invoke: (command, params) => ipcRenderer.invoke(CHANNEL.command, { command, params }),
  getState: () => ipcRenderer.invoke(CHANNEL.getState),
  onState: (listener) => {
    // The event object would hand the page a way to ipcRenderer; only the state goes through.
    const forward = (_event: unknown, state: DesktopState): void => listener(state)
    ipcRenderer.on(CHANNEL.state, forward)
    return () => {
      ipcRenderer.off(CHANNEL.state, forward)
    }
  },
  requestStorePort: () => ipcRenderer.send(CHANNEL.requestPort),
}

contextBridge.exposeInMainWorld('dcpscope', bridge)

// A port cannot cross the context bridge, but a window message carries it.
ipcRenderer.on(CHANNEL.port, (event) => {
  window.postMessage({ type: STORE_PORT }, location.origin, event.ports)
})

// Files are taken from the first frame on, before the page has read the app. An element that comes under a resting pointer is
// entered without being moved over, so both events say that a drop is welcome; the browser itself is to do nothing with it.
for (const type of ['dragenter', 'dragover', 'drop'] as const)
  window.addEventListener(type, (event) => {
    if (event.dataTransfer === null || !event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    event.dataTransfer.dropEffect = 'copy'
  })

// Paths go from here to main: the page shows where things can be dropped, and knows no paths.
window.addEventListener('drop', ({ dataTransfer }) => {
  const paths = Array.from(dataTransfer?.files ?? [], pathOf).filter((path) => path !== '')
  if (paths.length > 0) ipcRenderer.send(CHANNEL.dropped, paths)
})
