import { invoke, manifestOf, onlyBundle, pidOf, stateOf, waitReady } from './desk.ts'
import { expect, test } from './fixture.ts'

const LONG_RUN = { model: { preset: 'tiny' }, workload: { steps: 20_000 } }

const startLongRun = async (page: Parameters<typeof stateOf>[0]): Promise<void> => {
  await waitReady(page, 'engine')
  expect(await invoke(page, 'startRun', { config: LONG_RUN })).toMatchObject({ ok: true })
  await expect.poll(async () => (await stateOf(page)).activeRun?.phase).toBe('running')
}

test.describe('a page that crashes', () => {
  test.use({ expectedErrors: /crash/i })

  test('is offered to be loaded again while the run goes on', async ({ desk: { app, page } }) => {
    await startLongRun(page)
    await app.evaluate(({ dialog }) => {
      Reflect.set(globalThis, 'asked', [])
      Reflect.set(dialog, 'showMessageBox', async (_window: unknown, options: { message: string }) => {
        Reflect.get(globalThis, 'asked').push(options.message)
        return { response: 0, checkboxChecked: false }
      })
    })
    await app.evaluate(({ BrowserWindow }) => {
      BrowserWindow.getAllWindows()[0]?.webContents.forcefullyCrashRenderer()
    })
    const phase = (): Promise<unknown> =>
      app.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows()[0]?.webContents.executeJavaScript(
          'window.dcpscope.getState().then((state) => state.activeRun?.phase)',
        ),
      )
    await expect.poll(() => app.evaluate(() => Reflect.get(globalThis, 'asked'))).toHaveLength(1)
    await expect.poll(phase).toBe('running')
  })
})

test('a page that does not answer is asked about once and goes on when the person waits', async ({
  desk: { app, page },
}) => {
  await app.evaluate(({ BrowserWindow, dialog }) => {
    Reflect.set(globalThis, 'asked', [])
    Reflect.set(dialog, 'showMessageBox', async (_window: unknown, options: { buttons: string[] }) => {
      Reflect.get(globalThis, 'asked').push(options.buttons)
      return { response: 1, checkboxChecked: false }
    })
    const contents = BrowserWindow.getAllWindows()[0]?.webContents
    contents?.emit('unresponsive')
    contents?.emit('unresponsive')
  })
  await page.evaluate('window.stays = 1')
  expect(await app.evaluate(() => Reflect.get(globalThis, 'asked'))).toEqual([['Load again', 'Wait', 'Quit']])
  expect(await page.evaluate('window.stays')).toBe(1)
})

test('closing the window in the middle of a run stops it and leaves a readable bundle', async ({ desk }) => {
  await startLongRun(desk.page)
  const closed = desk.app.waitForEvent('close')
  await desk.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close())
  await closed
  const { status, summary } = manifestOf(onlyBundle(desk.dataDir))
  expect(status).toBe('stopped')
  expect(summary?.dropped).toBe(0)
})

test('an engine that hangs is ended and said so', async ({ desk: { page } }) => {
  test.setTimeout(90_000)
  await startLongRun(page)
  process.kill(await pidOf(page, 'engine'), 'SIGSTOP')
  await expect.poll(async () => (await stateOf(page)).engine.status, { timeout: 40_000 }).toBe('crashed')
  const { engine, store, lastRun } = await stateOf(page)
  expect(engine.status === 'crashed' && engine.message).toContain('did not answer')
  expect(store.status).toBe('ready')
  expect(lastRun?.status).toBe('interrupted')
})
