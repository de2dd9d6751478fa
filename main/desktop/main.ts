import { app } from 'electron'
import { APP_ORIGIN } from './assets.ts'
import { startDesktop } from './desktop.ts'
import { devServer } from './dev-server.ts'
import { registerScheme } from './scheme.ts'
import { lockDown } from './security.ts'
import { originOf } from './url.ts'

/** Entry of the Electron main process. What must stand before the app is ready stands here. */

const complain = (sentence: string): void => {
  process.stderr.write(`dcpscope: ${sentence}\n`)
}

const developing = devServer()

registerScheme()
lockDown((url) => originOf(url) === (developing ?? APP_ORIGIN) && new URL(url).pathname === '/')

if (app.requestSingleInstanceLock())
  app
    .whenReady()
    .then(() => startDesktop({ folder: __dirname, developing, complain }))
    .catch((error: unknown) => {
      complain(error instanceof Error ? (error.stack ?? error.message) : String(error))
      app.exit(1)
    })
else app.quit()
