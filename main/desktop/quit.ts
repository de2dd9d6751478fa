import { app } from 'electron'
import type { Supervisor } from './supervisor.ts'

/** A run that does not stop within this time is left to its bundle, which stays readable. */
const STOP_MS = 5000

/** Before the app ends, a run in progress is stopped, so that its bundle says `stopped`. */
export const quitCleanly = (
  supervisor: Pick<Supervisor<unknown>, 'shutDown'>,
  complain: (sentence: string) => void,
): void => {
  let ending: 'no' | 'stopping' | 'stopped' = 'no'
  app.on('before-quit', (event) => {
    if (ending === 'stopped') return
    event.preventDefault()
    if (ending === 'stopping') return
    ending = 'stopping'
    supervisor
      .shutDown(STOP_MS)
      .catch((error: unknown) => complain(String(error)))
      .then(() => {
        ending = 'stopped'
        app.quit()
      })
  })
  app.on('window-all-closed', () => app.quit())
}
