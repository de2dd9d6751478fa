import { contextBridge, ipcRenderer } from 'electron'
import { CHANNEL, STORE_PORT } from '../../app/protocol/channels.ts'
import type { DesktopBridge, DesktopState } from '../../app/protocol/desktop.ts'

/** Of the page's globals, all that the preload touches; the rooms of main have no DOM types. */
declare const location: { readonly origin: string }
declare const window: {
  postMessage(message: unknown, targetOrigin: string, ports: readonly unknown[]): void
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
