import { app, type BrowserWindow, dialog } from 'electron'

type Trouble = { readonly kind: 'gone'; readonly reason: string } | { readonly kind: 'unresponsive' }

const sentence = (trouble: Trouble): string =>
  trouble.kind === 'gone'
    ? `The view of this window ended unexpectedly (${trouble.reason}).`
    : 'The view of this window does not answer.'

/** One way back for a page that crashed or hangs: it is loaded again; runs live in other processes and go on. */
export const watchPage = (window: BrowserWindow, reload: () => void): void => {
  let asking: AbortController | undefined

  const recover = async (trouble: Trouble): Promise<void> => {
    if (asking !== undefined) return
    asking = new AbortController()
    const buttons = trouble.kind === 'gone' ? ['Load again', 'Quit'] : ['Load again', 'Wait', 'Quit']
    const { response } = await dialog.showMessageBox(window, {
      type: 'warning',
      message: sentence(trouble),
      detail: 'A run in progress goes on and nothing recorded is lost.',
      buttons,
      defaultId: 0,
      cancelId: trouble.kind === 'gone' ? 0 : 1,
      signal: asking.signal,
    })
    asking = undefined
    if (window.isDestroyed()) return
    if (buttons[response] === 'Load again') reload()
    if (buttons[response] === 'Quit') app.quit()
  }
  const ask = (trouble: Trouble): void => {
    recover(trouble).catch((error: unknown) => {
      asking = undefined
      process.stderr.write(`dcpscope: ${sentence(trouble)} ${String(error)}\n`)
      reload()
    })
  }

  window.webContents.on('render-process-gone', (_event, { reason }) => {
    if (reason !== 'clean-exit') ask({ kind: 'gone', reason })
  })
  window.webContents.on('unresponsive', () => ask({ kind: 'unresponsive' }))
  window.webContents.on('responsive', () => asking?.abort())
}
