import { app, type Session, shell, type WebContents } from 'electron'
import { externalAllowed } from './externals.ts'

/** The only permission that the page gets: putting text on the clipboard when a value is copied. */
const GRANTED = 'clipboard-sanitized-write'

const lockSession = (session: Session): void => {
  session.setPermissionRequestHandler((_contents, permission, answer) => answer(permission === GRANTED))
  session.setPermissionCheckHandler((_contents, permission) => permission === GRANTED)
  session.setDevicePermissionHandler(() => false)
  session.on('will-download', (event) => event.preventDefault())
}

const lockContents = (contents: WebContents, allowed: (url: string) => boolean): void => {
  const stay = (event: { preventDefault(): void }, url: string): void => {
    if (!allowed(url)) event.preventDefault()
  }
  contents.on('will-navigate', (event, url) => stay(event, url))
  contents.on('will-redirect', (event, url) => stay(event, url))
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.setWindowOpenHandler(({ url }) => {
    if (externalAllowed(url))
      shell.openExternal(url).catch((error: unknown) => {
        process.stderr.write(`dcpscope: cannot open ${url}: ${String(error)}\n`)
      })
    return { action: 'deny' }
  })
}

/** Applies to every page that ever comes up. `allowed` names the addresses that a page may go to itself. */
export const lockDown = (allowed: (url: string) => boolean): void => {
  app.on('session-created', lockSession)
  app.on('web-contents-created', (_event, contents) => lockContents(contents, allowed))
}
