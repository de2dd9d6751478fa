import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElectronApplication } from 'playwright'
import { runIdOf } from '../../main/process/run-id.ts'
import { onlyBundle, runDefault, startAgain, stateOf, withoutCache } from './desk.ts'
import { expect, test } from './fixture.ts'

const userDir = (app: ElectronApplication): string =>
  app
    .process()
    .spawnargs.find((argument) => argument.startsWith('--user-data-dir='))
    ?.slice('--user-data-dir='.length) ?? ''

test('a second start hands its bundle to the first window and ends', async ({ desk }) => {
  const { app, page, dataDir } = desk
  await runDefault(page)
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-elsewhere-'))
  const bundle = join(folder, 'copied.dcp')
  cpSync(onlyBundle(dataDir), bundle, { recursive: true })
  expect(await startAgain(app, [bundle])).toBe(0)
  await expect
    .poll(async () => (await stateOf(page)).opened)
    .toEqual({
      seq: 1,
      result: { ok: true, run: runIdOf(bundle) },
    })
  await expect(page.getByTestId('run-steps')).toHaveText('24')
  expect(await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1)

  const empty = join(folder, 'empty.dcp')
  mkdirSync(empty)
  expect(await startAgain(app, [empty])).toBe(0)
  await expect.poll(async () => (await stateOf(page)).opened?.result.ok).toBe(false)
  await expect(page.getByTestId('messages')).toContainText('not a dcpscope bundle')
  rmSync(folder, { recursive: true })
})

test('the history of messages says when there is none, and an error is not the newest after a success', async ({
  desk,
}) => {
  const { app, page, dataDir } = desk
  await page.getByTestId('messages').click()
  await expect(page.locator('.messages')).toContainText('Nothing was said yet.')
  await page.keyboard.press('Escape')
  await runDefault(page)
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-elsewhere-'))
  const [bundle, empty] = [join(folder, 'copied.dcp'), join(folder, 'empty.dcp')]
  cpSync(onlyBundle(dataDir), bundle, { recursive: true })
  mkdirSync(empty)
  expect(await startAgain(app, [empty])).toBe(0)
  await expect(page.getByTestId('messages')).toContainText('not a dcpscope bundle')
  expect(await startAgain(app, [bundle])).toBe(0)
  await expect(page.getByTestId('messages')).toContainText('Opened')
  rmSync(folder, { recursive: true })
})

test('size and theme of the window are kept for the next start', async ({ desk: { app, page } }) => {
  await app.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows()[0]?.setBounds({ width: 1111, height: 777 }),
  )
  await page.getByTestId('theme').click()
  await page.getByTestId('theme').click()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  const file = join(userDir(app), 'window.json')
  await app.evaluate(({ BrowserWindow }) => {
    BrowserWindow.getAllWindows()[0]?.emit('close', { preventDefault() {} })
  })
  const kept: unknown = JSON.parse(readFileSync(file, 'utf8'))
  expect(kept).toMatchObject({ theme: 'dark', bounds: { width: 1111, height: 777 } })
})

test.describe('a page that cannot read the app', () => {
  test.use({ expectedErrors: /start-.*\.(js|css)|Failed to load resource/ })

  test('says so in place of its frame, and goes on when it is loaded again', async ({
    desk: { app, page },
  }) => {
    const refuse = (isRefused: boolean): Promise<void> =>
      app.evaluate(({ session }, refused) => {
        session.defaultSession.webRequest.onBeforeRequest(({ url }, answer) =>
          answer({ cancel: refused && url.includes('/assets/start-') }),
        )
      }, isRefused)
    await withoutCache(page)
    await refuse(true)
    await page.reload()
    await expect(page.locator('#root')).toContainText('dcpscope cannot start: ')
    await expect(page.locator('.frame')).toHaveCount(0)
    await refuse(false)
    await page.reload()
    await expect(page.getByTestId('run-start')).toBeEnabled()
    await expect(page.locator('.frame[aria-busy]')).toHaveCount(0)
  })
})
