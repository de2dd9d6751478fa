import { app, session } from 'electron'
import { devCsp, devOrigin } from './csp.ts'

/** Origin of the dev server to load the page from; a packaged app never does. */
export const devServer = (): string | undefined =>
  app.isPackaged ? undefined : devOrigin(process.env.DCPSCOPE_DEV_URL)

/** The dev server does not send our policy; it is added on arrival. */
export const addDevPolicy = (origin: string): void => {
  const policy = devCsp(origin)
  session.defaultSession.webRequest.onHeadersReceived((details, answer) =>
    answer({ responseHeaders: { ...details.responseHeaders, 'content-security-policy': [policy] } }),
  )
}
