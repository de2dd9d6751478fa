import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { owner } from '../../app/dcp/ownership.ts'
import { tokenAt } from '../../app/dcp/pages.ts'
import { formatInt } from '../../renderer/drawing/format.ts'
import { type Box, cellBox, geometryOf, pageBox, type Sizes } from '../../renderer/views/pages/geometry.ts'
import { dumpBytes, ints, type Tensors } from '../unit/dump/dump-file.ts'
import { invoke, manifestOf, onlyBundle, query, runDefault, showView, stateOf, waitReady } from './desk.ts'
import { dropOn } from './dump.ts'
import { expect, test } from './fixture.ts'

let folder: string
test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-pages-'))
})
test.afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The middle of a box of the picture, where nothing was zoomed or scrolled. */
const placeOf = async (
  page: Page,
  sizes: Sizes,
  boxOf: (geometry: ReturnType<typeof geometryOf>) => Box,
): Promise<{ x: number; y: number }> => {
  const canvas = await page.getByTestId('pages-canvas').boundingBox()
  if (canvas === null) throw new Error('the canvas has no box')
  const none = { requestFrom: 0, markFrom: 0, lineFrom: 0 }
  const { x, y, width, height } = boxOf(
    geometryOf(canvas.width, canvas.height, sizes, { tableZoom: null, poolZoom: null }, none),
  )
  return { x: canvas.x + x + width / 2, y: canvas.y + y + height / 2 }
}

/** Points at a place; the first move only enters. */
const pointAt = async (page: Page, { x, y }: { x: number; y: number }): Promise<void> => {
  await page.mouse.move(x - 2, y)
  await page.mouse.move(x, y)
}

const card = (page: Page): Promise<string[]> => page.getByTestId('pages-card').locator('dd').allTextContents()

const crumb = (page: Page, key: string) => page.getByTestId(`crumb-${key}`)

const row = (page: Page, testId: string): Promise<string[]> =>
  page.getByTestId(testId).locator('th, td').allTextContents()

const plain = (text: string): string => text.replace(/\s/g, '')

test('every cell of the table and the pool is what the bundle recorded, at any step and rank', async ({
  desk: { page, dataDir },
}) => {
  await runDefault(page)
  await showView(page, 'pages')
  const bundle = onlyBundle(dataDir)
  const { config } = manifestOf(bundle)
  await expect(page.getByTestId('pages-from')).toHaveText('step 23, layer 0')
  await page.keyboard.press('[')
  await expect(page.getByTestId('pages-from')).toHaveText('step 22')
  for (const name of ['double', 'outside', 'missing', 'width', 'lengths'])
    await expect(page.getByTestId(`pages-light-${name}`)).toHaveAttribute('data-state', 'holds')
  await expect(page.getByTestId('pages-light-slots')).toHaveAttribute('data-state', 'unknown')
  const cells = await query(
    bundle,
    `SELECT "column" AS c, arg_max(page, step) AS page, arg_max(valid, step) AS valid, min(step) AS taken
     FROM pages WHERE rank = 2 AND request = 1 AND step <= 22 GROUP BY "column" ORDER BY "column"`,
  )
  await page.getByTestId('pages-rank').fill('2')
  await page.getByTestId('pages-request').fill('1')
  await page.getByTestId('pages-request').blur()
  await page.keyboard.press('t')
  for (const { c, page: own, valid, taken } of cells) {
    const told = page.getByTestId(`pages-cell-${c}`)
    await expect(told).toBeVisible()
    const { pageSize } = config.cache
    const paging = { dcp: config.parallel.dcpSize, interleave: config.parallel.interleave, page: pageSize }
    const rank = 2
    const first = Number(valid) > 0 ? [tokenAt(rank, Number(c), 0, paging)] : []
    await expect
      .poll(async () => {
        const [column, token, ...others] = (await row(page, `pages-cell-${c}`)).map(plain)
        return [column, ...(first.length > 0 ? [token] : []), ...others.slice(0, 4)]
      })
      .toEqual([c, ...first, own, Number(own) * pageSize, valid, taken].map(String))
  }
})

test('a cell under the pointer is joined with its page, a click selects it, and keys move on', async ({
  desk: { page, dataDir },
}) => {
  await runDefault(page)
  await showView(page, 'pages')
  const bundle = onlyBundle(dataDir)
  const { parallel, cache } = manifestOf(bundle).config
  const paging = { dcp: parallel.dcpSize, interleave: parallel.interleave, page: cache.pageSize }
  const all = await query(
    bundle,
    `SELECT request, "column" AS c, any_value(page) AS page FROM pages WHERE rank = 0 GROUP BY ALL`,
  )
  const pageOf = (request: number, column: number): number =>
    Number(all.find((one) => Number(one.request) === request && Number(one.c) === column)?.page)
  const sizes = {
    requests: 4,
    columns: Math.max(...all.map(({ c }) => Number(c))) + 1,
    pages: Math.max(...all.map((one) => Number(one.page))) + 1,
  }
  await expect(page.getByTestId('pages-light-slots')).toHaveAttribute('data-state', 'holds')
  await pointAt(page, await placeOf(page, sizes, (g) => cellBox(1, 3, g)))
  await expect(page.getByTestId('pages-card')).toContainText('column 3')
  expect((await card(page)).map(plain)[3]).toBe(String(pageOf(1, 3)))
  await page.mouse.down()
  await page.mouse.up()
  await expect(crumb(page, 'request')).toHaveText(/1$/)
  await expect(crumb(page, 'page')).toContainText(formatInt(pageOf(1, 3)))
  await expect(crumb(page, 'token')).toContainText(formatInt(3 * paging.page * paging.dcp))
  await page.keyboard.press('ArrowRight')
  await expect(crumb(page, 'page')).toContainText(formatInt(pageOf(1, 4)))
  await page.keyboard.press('ArrowDown')
  await expect(crumb(page, 'page')).toContainText(formatInt(pageOf(2, 4)))
  await page.keyboard.press('n')
  await expect(page.getByTestId('pages-rank')).toHaveValue('1')
  // From the pool back to the table: the page says which cell it is.
  await pointAt(page, await placeOf(page, sizes, (g) => pageBox(pageOf(3, 0), g)))
  await expect(page.getByTestId('pages-card')).toContainText('column 0')
  expect((await card(page)).map(plain)[0]).toBe('3')
  await page.keyboard.press('g')
  await page.keyboard.type(String(pageOf(0, 2)))
  await page.keyboard.press('Enter')
  await expect(crumb(page, 'page')).toContainText(formatInt(pageOf(0, 2)))
  await expect(page.getByText('Request 0, column 2')).toBeVisible()
  // The search of the window leads here too.
  await page.keyboard.press('/')
  await page.keyboard.type(`page ${pageOf(1, 4)}`)
  await expect(page.getByRole('option', { name: /virtual page 4 of request 1/ })).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page.getByText('Request 1, column 4')).toBeVisible()
  await expect(page.getByTestId('view-pages')).toHaveAttribute('aria-current', 'page')
  await page.getByTestId('pages-request').fill('0')
  await page.getByTestId('pages-request').blur()
  // A token that is selected elsewhere marks its page and slot here.
  await showView(page, 'ownership')
  await page.getByTestId('ownership-goto').fill('70')
  await page.keyboard.press('Enter')
  await showView(page, 'pages')
  await expect(crumb(page, 'page')).toContainText(formatInt(pageOf(0, (70 / (paging.page * paging.dcp)) | 0)))
  expect(owner(70, paging)).toBe(2)
  await expect(page.getByText('Request 0, column 1')).toBeVisible()
})

/** Requests of 20 and 9 tokens on two ranks in pages of 4: page 5 is used twice, and request 1 lacks one. */
const faulty = (): Tensors => ({
  lse: { shape: [2, 1] },
  seq_lens_global: ints([20, 9]),
  block_table: ints([7, 5, 3, 9, -1, 5, -1, 4, 7, 7], [2, 5]),
  slot_mapping: { shape: [2], dtype: 'I64', values: [-1, -1] },
})

const writeRanks = (name: string, tensors: readonly Tensors[], page = '4'): string => {
  const path = join(folder, name)
  mkdirSync(path)
  for (const [rank, own] of tensors.entries())
    writeFileSync(
      join(path, `rank${rank}.safetensors`),
      dumpBytes(own, { rank: String(rank), page_size: page }),
    )
  return path
}

test('the page that two requests share is found from a red light', async ({ desk: { page } }) => {
  await dropOn(page, [writeRanks('faulty', [faulty(), faulty()])])
  await showView(page, 'pages')
  const light = page.getByTestId('pages-light-double')
  await expect(light).toHaveAttribute('data-state', 'broken')
  await expect(light).toHaveAttribute(
    'title',
    /page 5 is in column 1 of request 0 and in column 0 of request 1/,
  )
  await light.click()
  await expect(crumb(page, 'request')).toHaveText(/0$/)
  await expect(crumb(page, 'page')).toHaveText(/5$/)
  await expect(page.getByTestId('inspector').getByText('used twice')).toBeVisible()
  await pointAt(page, await placeOf(page, { requests: 2, columns: 5, pages: 8 }, (g) => pageBox(5, g)))
  await expect(page.getByTestId('pages-card')).toContainText('cells that have it')
  await page.keyboard.press('e')
  await page.keyboard.press('e')
  await expect(crumb(page, 'request')).toHaveText(/1$/)
  await page.keyboard.press('t')
  await expect(page.getByTestId('pages-cell-0')).toContainText('used twice')
  await expect(page.getByTestId('pages-cell-1')).toContainText('keys, but no page')
  await expect(page.getByTestId('pages-cell-2')).toContainText('stale')
})

test('a dump without block tables says what it lacks, and the next rank is one key away', async ({
  desk: { page },
}) => {
  await dropOn(page, [writeRanks('lacking', [{ lse: { shape: [2, 1] } }, faulty()])])
  await showView(page, 'pages')
  await expect(page.getByTestId('pages-lacking')).toContainText(
    'the file of rank 0 has no block_table; record it, with seq_lens_global, to see pages',
  )
  await page.getByTestId('pages-rank').fill('1')
  await expect(page.getByTestId('pages-canvas')).toBeVisible()
})

test('a pool of a million pages is walked through', async ({ desk: { page } }) => {
  const [requests, columns] = [64, 16_384]
  const pool = requests * columns
  // Every page once, far from its neighbours.
  const table = Array.from({ length: pool }, (_, i) => (i * 7919) % pool)
  const tensors: Tensors = {
    seq_lens_global: ints(Array(requests).fill(columns * 8)),
    block_table: ints(table, [requests, columns]),
  }
  await dropOn(page, [writeRanks('large', [tensors, tensors])])
  await showView(page, 'pages')
  await expect(page.getByTestId('pages-light-double')).toHaveAttribute('data-state', 'holds')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('End')
  await expect(crumb(page, 'page')).toContainText(formatInt(table[columns - 1] ?? -1))
  await page.getByTestId('pages-goto').fill('777777')
  await page.keyboard.press('Enter')
  await expect(crumb(page, 'page')).toContainText(formatInt(777_777))
  const at = table.indexOf(777_777)
  await expect(
    page.getByText(`Request ${Math.floor(at / columns)}, column ${formatInt(at % columns)}`),
  ).toBeVisible()
  for (const key of ['w', 'w', 'w', 'Shift+W', 'Shift+W', 'Shift+W', 'f', '0', 'c', 'c'])
    await page.keyboard.press(key)
  await expect(page.getByTestId('pages-mode-fill')).toHaveAttribute('aria-pressed', 'true')
})

test('the table of a run that goes on grows with it, and is right all the while', async ({
  desk: { page },
}) => {
  await waitReady(page, 'engine')
  const config = {
    model: { preset: 'tiny', layers: 1 },
    workload: { requests: [{ contextLen: 300, count: 3 }], steps: 100_000 },
    cache: { pageSize: 16 },
    engine: { device: 'cpu' },
    check: { rows: 'none' },
    capture: { steps: 'none' },
  }
  expect(await invoke(page, 'startRun', { config })).toMatchObject({ ok: true })
  await expect.poll(async () => (await stateOf(page)).activeRun?.phase).toBe('running')
  // The page opens the run in progress when it is loaded anew.
  await page.reload()
  await showView(page, 'pages')
  const from = page.getByTestId('pages-from')
  await expect(from).toHaveText(/^step \d+$/, { timeout: 40_000 })
  const seen = new Set<string>()
  await expect
    .poll(
      async () => {
        seen.add((await from.textContent()) ?? '')
        expect(await page.locator('.light-broken').count()).toBe(0)
        return seen.size
      },
      { timeout: 60_000 },
    )
    .toBeGreaterThan(4)
  expect(await invoke(page, 'stopRun', {})).toMatchObject({ ok: true })
  await expect.poll(async () => (await stateOf(page)).lastRun?.status, { timeout: 30_000 }).toBe('stopped')
})
