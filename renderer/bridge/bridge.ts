import type { DesktopBridge } from '../../app/protocol/desktop.ts'

declare global {
  interface Window {
    /** Put there by the preload; absent where the page is opened outside of the desktop app. */
    readonly dcpscope?: DesktopBridge
  }
}

/** The way out of the page to the main process; throws where there is none. */
export const desktop = (): DesktopBridge => {
  if (window.dcpscope === undefined) throw new Error('This page works only inside the dcpscope window.')
  return window.dcpscope
}
