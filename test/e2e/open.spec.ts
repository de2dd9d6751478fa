import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElectronApplication, Locator, Page } from 'playwright'
import { showView, startAgain, waitReady, withoutCache } from './desk.ts'
import { dropOn, dropOnNewElement, writeDump } from './dump.ts'
import { expect, test } from './fixture.ts'
import { STEPS, writeGpuBundle } from './gpu-bundle.ts'
import { launch } from './launch.ts'

const SCREENS = join(__dirname, '..', '..', 'test-results', 'screens')

let folder = ''
test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-open-'))
})
test.afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Bundles that lie elsewhere than where the app lists its runs. */
const writeBundles = async (names: readonly string[]): Promise<string[]> => {
  const bundle = await writeGpuBundle(join(folder, 'made'))
  return names.map((name) => {
    const copy = join(folder, `${name}.dcp`)
    cpSync(bundle, copy, { recursive: true })
    const manifest: unknown = JSON.parse(readFileSync(join(copy, 'run.json'), 'utf8'))
    writeFileSync(join(copy, 'run.json'), JSON.stringify(Object.assign(Object(manifest), { name })))
    return copy
  })
}

const picker = (page: Page): Locator => page.getByTestId('run-picker')

/** What the picker lists as open. */
const openNames = async (page: Page): Promise<string[]> => {
  await picker(page).click()
  const names = await page.getByTestId('open-item').locator('.run-item-name').allTextContents()
  await page.keyboard.press('Escape')
  return names
}

/** The next dialog that asks for files gives these. */
const answerDialog = (app: ElectronApplication, paths: readonly string[]): Promise<void> =>
  app.evaluate(
    ({ dialog }, filePaths) => {
      dialog.showOpenDialog = async () => ({ canceled: false, filePaths })
    },
    [...paths],
  )

test('bundles that are dropped together are all open, and each keeps what was selected of it', async ({
  desk: { page },
}) => {
  const [one = '', two = ''] = await writeBundles(['one', 'two'])
  writeDump(join(folder, 'bad outputs'))
  await dropOn(page, [one, two])
  await expect(picker(page)).toContainText('one')
  await expect(picker(page)).toContainText('+1')
  const back = page.getByRole('button', { name: 'Previous step' })
  await expect(back).toBeEnabled()
  for (let i = 0; i < 3; i++) await page.keyboard.press('BracketLeft')
  await expect(page.getByTestId('crumb-step')).toHaveText(`step ${STEPS - 4}`)

  await page.keyboard.press('Control+Tab')
  await expect(picker(page)).toContainText('two')
  await expect(page.getByTestId('crumb-step')).toBeHidden()
  await expect(back).toBeEnabled()
  await page.keyboard.press('BracketLeft')
  await expect(page.getByTestId('crumb-step')).toHaveText(`step ${STEPS - 2}`)
  await page.keyboard.press('Control+Shift+Tab')
  await expect(picker(page)).toContainText('one')
  await expect(page.getByTestId('crumb-step')).toHaveText(`step ${STEPS - 4}`)

  // A dump beside them, and back by the list.
  await dropOn(page, [join(folder, 'bad outputs')])
  await expect(page.getByTestId('pm-source')).toHaveValue(/^dump-/)
  expect(await openNames(page)).toEqual(['one', 'two', 'bad outputs'])
  await picker(page).click()
  await page.screenshot({ path: join(SCREENS, 'open-list.png') })
  await page.getByTestId('open-item').filter({ hasText: 'two' }).locator('.open-item-name').click()
  await expect(page.getByTestId('crumb-step')).toHaveText(`step ${STEPS - 2}`)

  // By the palette, by keys, and one away.
  await page.keyboard.press('Control+Shift+P')
  await page.keyboard.type('show one')
  await page.keyboard.press('Enter')
  await expect(picker(page)).toContainText('one')
  await page.keyboard.press('Control+W')
  await expect(picker(page)).not.toContainText('one')
  expect(await openNames(page)).toEqual(['two', 'bad outputs'])
  await picker(page).click()
  await page.getByRole('button', { name: 'Close two' }).click()
  await page.getByRole('button', { name: 'Close bad outputs' }).click()
  await page.keyboard.press('Escape')
  await expect(picker(page)).toContainText('No run open')
})

test('what is dropped is taken also where the element under the pointer has just changed', async ({
  desk: { page },
}) => {
  const [one = ''] = await writeBundles(['one'])
  await waitReady(page, 'store')
  await dropOnNewElement(page, [one])
  await expect(picker(page)).toContainText('one')
})

test('what is dropped on a page that has not read the app yet is open once it has', async ({
  desk: { app, page },
}) => {
  const [one = ''] = await writeBundles(['one'])
  await waitReady(page, 'store')
  await withoutCache(page)
  await app.evaluate(({ session }) => {
    const held: (() => void)[] = []
    let isHeld = true
    session.defaultSession.webRequest.onBeforeRequest(({ url }, answer) => {
      if (isHeld && url.includes('/assets/start-')) held.push(() => answer({}))
      else answer({})
    })
    Reflect.set(globalThis, 'readTheApp', () => {
      isHeld = false
      for (const read of held) read()
    })
  })
  await page.evaluate(() => location.reload())
  await expect(page.locator('.frame[aria-busy]')).toBeVisible()
  await dropOnNewElement(page, [one])
  await app.evaluate(() => Reflect.get(globalThis, 'readTheApp')())
  await expect(picker(page)).toContainText('one')
})

test('the dialog opens several, says which is no bundle, and what was open is listed at the next start', async () => {
  const [one = '', two = ''] = await writeBundles(['one', 'two'])
  const userData = join(folder, 'user')
  const first = await launch({ userData })
  try {
    await answerDialog(first.app, [one, join(folder, 'made'), two])
    await picker(first.page).click()
    await first.page.getByTestId('open-bundle').click()
    await expect(picker(first.page)).toContainText('one')
    expect(await openNames(first.page)).toEqual(['one', 'two'])
    await first.page.getByTestId('messages').click()
    await expect(first.page.locator('.messages')).toContainText('not a dcpscope bundle')
  } finally {
    await first.close()
  }
  const second = await launch({ userData })
  try {
    await showView(second.page, 'run')
    await expect(second.page.getByTestId('run-item')).toHaveText([/two|one/, /two|one/])
    await second.page.getByTestId('run-item').filter({ hasText: 'two' }).click()
    await expect(picker(second.page)).toContainText('two')
    expect(second.errors).toEqual([])
  } finally {
    await second.close()
  }
})

test('a command line opens all bundles that it names, also in a window that is there', async () => {
  const [one = '', two = '', three = ''] = await writeBundles(['one', 'two', 'three'])
  const { app, page, close } = await launch({ args: [one, two] })
  try {
    await expect(picker(page)).toContainText('one')
    expect(await openNames(page)).toEqual(['one', 'two'])
    expect(await startAgain(app, [three])).toBe(0)
    // The second start names those of the first as well.
    await expect(picker(page)).toContainText('+2')
    expect(await openNames(page)).toEqual(['one', 'two', 'three'])
  } finally {
    await close()
  }
})
