import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElectronApplication, Page } from 'playwright/test'
import { onlyBundle, runDefault, showView, startAgain } from './desk.ts'
import { expect, test } from './fixture.ts'
import { launch } from './launch.ts'

const clipboard = (app: ElectronApplication): Promise<string> =>
  app.evaluate(({ clipboard: board }) => board.readText())

const selected = (page: Page): Promise<string[]> => page.locator('.crumb').allInnerTexts()

const shownView = (page: Page): Promise<string | null> =>
  page.locator('.rail-item[aria-current="page"]').getAttribute('data-testid')

test('a copied link brings another window of the app to the same place', async ({ desk }) => {
  const { app, page, dataDir } = desk
  await runDefault(page)
  await showView(page, 'ownership')
  await page.getByTestId('ownership-canvas').focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('BracketLeft')
  await expect.poll(() => selected(page)).toEqual(['step 22', 'token 0'])
  await page.keyboard.press('Control+Shift+L')
  await expect(page.getByTestId('messages')).toContainText('on the clipboard')
  const link = await clipboard(app)
  expect(link).toMatch(/^dcpscope:\/\/open\?view=ownership&run=[0-9a-f]{24}&.*step=22&token=0$/)

  // While the app is open: a second start hands the link over.
  await page.keyboard.press('Escape')
  await showView(page, 'merge')
  expect(await startAgain(app, [link])).toBe(0)
  await expect.poll(() => selected(page)).toEqual(['step 22', 'token 0'])
  expect(await shownView(page)).toBe('view-ownership')
  // It is a place as others are.
  await page.keyboard.press('Alt+ArrowLeft')
  await expect.poll(() => shownView(page)).toBe('view-merge')

  // What a link must not say changes nothing.
  expect(await startAgain(app, [`${link}&path=/etc/passwd.dcp`])).toBe(0)
  await expect(page.getByTestId('messages')).toContainText('a field that is not known here')
  expect(await shownView(page)).toBe('view-merge')

  // The button of the inspector copies the place as it is now.
  await page.getByTestId('copy-link').click()
  await expect.poll(() => clipboard(app)).toContain('view=merge')

  // An app that is not open yet: the link is an argument of its start.
  const second = await launch({ dataDir, args: [link] })
  await expect.poll(() => selected(second.page)).toEqual(['step 22', 'token 0'])
  expect(await shownView(second.page)).toBe('view-ownership')
  expect(second.errors).toEqual([])
  await second.close()
})

test('a link to a run that is elsewhere is followed once its bundle is opened', async ({ desk }) => {
  const { app, page, dataDir } = desk
  await runDefault(page)
  await showView(page, 'merge')
  await page.keyboard.press('BracketLeft')
  await page.keyboard.press('Control+Shift+L')
  await expect.poll(() => clipboard(app)).toContain('step=22')
  const link = await clipboard(app)
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-elsewhere-'))
  const bundle = join(folder, 'sent.dcp')
  cpSync(onlyBundle(dataDir), bundle, { recursive: true })

  // As on the machine of somebody else: the run is not among its runs.
  const other = await launch({ args: [link] })
  await expect(other.page.getByTestId('messages')).toContainText('Open its bundle, and the link is followed')
  expect(await shownView(other.page)).toBe('view-run')
  expect(await startAgain(other.app, [bundle])).toBe(0)
  await expect.poll(() => selected(other.page)).toEqual(['step 22'])
  expect(await shownView(other.page)).toBe('view-merge')
  await other.close()
  rmSync(folder, { recursive: true })
})
