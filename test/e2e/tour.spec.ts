import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright'
import { chooseTheme, resize, settled, showView, waitReady } from './desk.ts'
import { expect, test } from './fixture.ts'
import { launch } from './launch.ts'

/**
 * Takes the pictures of docs/tour.md. DCPSCOPE_TOUR names a folder with the bundles that the tour is of, made on a GPU as that
 * page says: v2lite-ag_rs.dcp, v2lite-a2a.dcp and v2lite-sweep.dcp.
 */
const ROOT = join(__dirname, '..', '..')
const CLI = join(ROOT, 'dist', 'cli.js')
const PICTURES = join(ROOT, 'docs', 'tour')
const FROM = process.env.DCPSCOPE_TOUR ?? ''
const run = promisify(execFile)

const bundle = (name: string): string => join(FROM, `v2lite-${name}.dcp`)
const missing = ['ag_rs', 'a2a', 'sweep'].filter((name) => !existsSync(bundle(name)))
test.skip(FROM === '' || missing.length > 0, 'DCPSCOPE_TOUR names no folder with the bundles of docs/tour.md')
test.setTimeout(300_000)

const folder = mkdtempSync(join(tmpdir(), 'dcpscope-tour-'))
test.afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Opens the window on some bundles, and gives its page to `show`. */
const tour = async (bundles: readonly string[], show: (page: Page) => Promise<void>): Promise<void> => {
  const { app, page, close, errors } = await launch({ args: bundles })
  try {
    await waitReady(page, 'store')
    await resize(app, page, 1280, 800)
    await chooseTheme(page, 'light')
    await show(page)
    expect(errors).toEqual([])
  } finally {
    await close()
  }
}

/** Keeps the page as a picture once nothing moves on it. */
const keep = async (page: Page, name: string): Promise<void> => {
  mkdirSync(PICTURES, { recursive: true })
  await page.mouse.move(700, 20)
  const picture = await settled(page, async () => (await page.screenshot()).toString('base64'))
  writeFileSync(join(PICTURES, `${name}.png`), picture, 'base64')
}

test('the way through a run on a GPU', async () => {
  await tour([bundle('ag_rs')], async (page) => {
    await keep(page, 'run')
    await showView(page, 'timeline')
    await expect(page.getByTestId('timeline-range')).toBeVisible()
    await page.getByTestId('timeline-canvas').click({ position: { x: 400, y: 20 } })
    // The last step, which was captured and has its kernels recorded.
    await page.keyboard.press('BracketLeft')
    await page.keyboard.press('BracketRight')
    await page.keyboard.press('KeyF')
    await page.keyboard.press('KeyK')
    await keep(page, 'timeline')
    await showView(page, 'ownership')
    await page.keyboard.press('End')
    await keep(page, 'ownership')
    await page.keyboard.press('KeyR')
    await keep(page, 'ring')
    await showView(page, 'pages')
    await keep(page, 'pages')
    await showView(page, 'merge')
    await expect(page.getByTestId('merge-map')).toBeVisible()
    await page.keyboard.press('KeyM')
    await expect(page.getByTestId('merge-mass')).toBeVisible()
    await keep(page, 'merge')
  })
})

test('where DCP pays', async () => {
  await tour([bundle('sweep')], async (page) => {
    await showView(page, 'throughput')
    await expect(page.getByTestId('picture')).toBeVisible()
    await page.getByTestId('axis-context').click()
    await page.getByTestId('held').selectOption({ label: '4' })
    await keep(page, 'throughput')
    await page.getByTestId('picture-roofline').click()
    await keep(page, 'roofline')
  })
})

test('a sweep that is set up and measured', async () => {
  await tour([], async (page) => {
    await waitReady(page, 'engine')
    await showView(page, 'throughput')
    await page.getByTestId('sweep-new').click()
    await expect(page.getByTestId('forecast-points')).toBeVisible()
    await keep(page, 'new-sweep')
    await page.getByTestId('sweep-start').click()
    await expect(page.getByTestId('measure-words')).toContainText('left', { timeout: 60_000 })
    await expect(page.getByTestId('picture')).toBeVisible({ timeout: 60_000 })
    // Halfway, so the page is not one that comes to rest.
    await expect(page.getByTestId('measure-count')).toHaveText(/^([89]|[1-9][0-9]) of/, { timeout: 120_000 })
    await page.screenshot({ path: join(PICTURES, 'sweep.png') })
  })
})

test('two transports side by side', async () => {
  await tour([bundle('ag_rs'), bundle('a2a')], async (page) => {
    await showView(page, 'compare')
    await expect(page.getByTestId('compare-times')).toBeVisible()
    await expect(page.getByTestId('compare-tensors')).toBeVisible({ timeout: 120_000 })
    await keep(page, 'compare')
  })
})

test('a bad output and its cause', async () => {
  const out = join(folder, 'nan')
  await run(process.execPath, [
    CLI,
    'run',
    '--scenario',
    'empty-row-not-neutralised-nan',
    '--out',
    out,
  ]).catch(
    // The check of a broken run fails.
    (error: { code?: number }) => expect(error.code).toBe(1),
  )
  await tour([join(out, 'broken.dcp')], async (page) => {
    await showView(page, 'events')
    await expect(page.getByTestId('cause-headline')).toBeVisible()
    await keep(page, 'events')
    await showView(page, 'postmortem')
    await expect(page.getByTestId('pm-findings')).toBeVisible({ timeout: 60_000 })
    await keep(page, 'postmortem')
    await showView(page, 'backends')
    await keep(page, 'backends')
    await showView(page, 'scenarios')
    await keep(page, 'scenarios')
  })
})
