import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Locator } from 'playwright'
import { localLengths, owner } from '../../app/dcp/ownership.ts'
import { formatInt } from '../../renderer/drawing/format.ts'
import { seriousIn } from './axe.ts'
import {
  chooseTheme,
  manifestOf,
  numbers,
  onlyBundle,
  query,
  resize,
  runDefault,
  SIZES,
  settled,
  showView,
} from './desk.ts'
import { dropOn } from './dump.ts'
import { expect, test } from './fixture.ts'

const ROOT = join(__dirname, '..', '..')
const CLI = join(ROOT, 'dist', 'cli.js')
const SCREENS = join(ROOT, 'test-results', 'screens')
const run = promisify(execFile)

/** Rows of the hover card by their label. */
const cardOf = async (card: Locator): Promise<Record<string, string>> => {
  const labels = await card.locator('dt').allTextContents()
  const values = await card.locator('dd').allTextContents()
  return Object.fromEntries(labels.map((label, i) => [label, values[i] ?? '']))
}

test('a token under the pointer shows its owner, place, page and slot as the bundle has them', async ({
  desk,
}) => {
  const { page, dataDir } = desk
  await runDefault(page)
  await showView(page, 'ownership')
  const bundle = onlyBundle(dataDir)
  const { config } = manifestOf(bundle)
  const dcp = config.parallel.dcpSize
  const { interleave } = config.parallel
  const { pageSize } = config.cache
  const canvas = page.getByTestId('ownership-canvas')
  const box = await canvas.boundingBox()
  if (box === null) throw new Error('the canvas has no box')
  // The strip of tokens lies near the top; two moves, since the first only enters.
  await page.mouse.move(box.x + box.width / 3, box.y + 50)
  await page.mouse.move(box.x + box.width / 3 + 3, box.y + 55, { steps: 3 })
  const card = page.getByTestId('ownership-card')
  await expect(card).toBeVisible()
  const facts = await cardOf(card)
  const token = Number((facts.token ?? '').replace(/\(newest\)|\s/g, ''))
  const rank = owner(token, { dcp, interleave })
  const column = Math.floor(token / (pageSize * dcp))
  const [cell] = await query(
    bundle,
    `SELECT page FROM pages WHERE request = 0 AND "column" = ${column} AND rank = ${rank} ORDER BY step DESC LIMIT 1`,
  )
  const local = Math.floor(token / (dcp * interleave)) * interleave + (token % interleave)
  expect(facts).toMatchObject({
    owner: `rank ${rank}`,
    'local index': formatInt(local),
    'virtual page': `column ${formatInt(column)}`,
    'offset in page': String(local % pageSize),
    'physical page': formatInt(Number(cell?.page)),
    slot: formatInt(Number(cell?.page) * pageSize + (local % pageSize)),
  })
})

test('local lengths add up to the length and are those that the engine recorded', async ({ desk }) => {
  const { page, dataDir } = desk
  await runDefault(page)
  await showView(page, 'ownership')
  const bundle = onlyBundle(dataDir)
  const { parallel } = manifestOf(bundle).config
  const last = await numbers(
    bundle,
    'SELECT max(global_len) AS len FROM rows WHERE request = 0 AND step = (SELECT max(step) FROM rows)',
  )
  const len = last.len ?? 0
  const lengths = localLengths(len, { dcp: parallel.dcpSize, interleave: parallel.interleave })
  await expect(page.getByTestId('ownership-sum')).toHaveText(formatInt(len))
  for (const [rank, length] of lengths.entries())
    await expect(page.getByTestId(`ownership-length-${rank}`)).toContainText(formatInt(length))
  const recorded = await query(
    bundle,
    'SELECT rank, max(local_len) AS n FROM rows WHERE request = 0 AND step = (SELECT max(step) FROM rows) GROUP BY rank ORDER BY rank',
  )
  expect(recorded.map((row) => Number(row.n))).toEqual(lengths)
  await expect(page.getByText('the engine recorded the same lengths')).toBeVisible()
  await expect(page.getByTestId('ownership-newest')).toContainText(
    `rank ${owner(len - 1, { dcp: parallel.dcpSize, interleave: parallel.interleave })}`,
  )
})

test('find the token that two ranks own', async ({ desk: { page } }) => {
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-overlap-'))
  try {
    await run(process.execPath, [CLI, 'run', '--scenario', 'coverage-overlap', '--out', folder]).catch(
      // The broken run fails its check, which is what it is for.
      ({ code }: { code: number }) => expect(code).toBe(1),
    )
    const bundle = join(folder, 'broken.dcp')
    await dropOn(page, [bundle])
    await showView(page, 'ownership')
    const { step = 0, len = 0 } = await numbers(
      bundle,
      'SELECT max(step) AS step, max(global_len) AS len FROM rows WHERE request = 0',
    )
    await expect(page.getByTestId('ownership-step')).toHaveValue(String(step))
    const light = page.getByTestId('ownership-light-overlap')
    await expect(light).toHaveAttribute('data-state', 'broken')
    await expect(light).toHaveAttribute(
      'title',
      `token ${len - 1} is stored on ranks 0, 1, 2, 3; its owner is rank ${(len - 1) % 4}; click to see it`,
    )
    await expect(page.getByTestId('ownership-light-sum')).toHaveAttribute('data-state', 'broken')
    await expect(page.getByTestId('ownership-light-gap')).toHaveAttribute('data-state', 'holds')
    expect(await seriousIn(page)).toEqual([])
    await light.click()
    await expect(page.getByTestId('crumb-token')).toHaveText(`token ${formatInt(len - 1)}`)
    await expect(page.getByTestId('crumb-rank')).toBeVisible()

    // The right run, beside it, breaks nothing.
    await dropOn(page, [join(folder, 'fixed.dcp')])
    for (const name of ['sum', 'grows', 'overlap', 'gap'])
      await expect(page.getByTestId(`ownership-light-${name}`)).toHaveAttribute('data-state', 'holds')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('tokens arrive step by step, each on the rank whose turn it is, and the batch says who has how many', async ({
  desk: { page, dataDir },
}) => {
  await runDefault(page)
  await showView(page, 'ownership')
  const bundle = onlyBundle(dataDir)
  for (const step of [4, 5, 6]) {
    await page.getByTestId('ownership-step').fill(String(step))
    const { len = 0 } = await numbers(
      bundle,
      `SELECT max(global_len) AS len FROM rows WHERE request = 0 AND step = ${step}`,
    )
    await expect(page.getByTestId(`ownership-grown-${(len - 1) % 4}`)).toHaveText('+1 ')
    await expect(page.locator('.ownership-grown')).toHaveCount(1)
  }
  const loads = await query(
    bundle,
    `SELECT rank, sum(local_len) AS keys, count_if(local_len = 0) AS empty FROM rows WHERE step = 6 AND layer = 0 GROUP BY rank ORDER BY rank`,
  )
  for (const load of loads) {
    const cells = page.getByTestId(`ownership-batch-${load.rank}`).locator('td.num')
    await expect(cells).toHaveText([formatInt(Number(load.keys)), /./, String(load.empty)])
  }
})

test('another interleave lies beside the first, with the same token and how many tokens change their rank', async ({
  desk: { app, page },
}) => {
  await showView(page, 'ownership')
  await page.getByTestId('ownership-calculator').click()
  for (const [field, value] of [
    ['len', 512],
    ['dcp', 4],
    ['page', 64],
    ['interleave', 1],
  ] as const)
    await page.getByTestId(`ownership-${field}`).fill(String(value))
  await page.getByTestId('ownership-beside').click()
  await expect(page.getByTestId('ownership-beside-interleave')).toHaveValue('64')
  await expect(page.getByTestId('ownership-beside-note')).toContainText('384 of 512 tokens')
  await page.getByTestId('ownership-canvas').click({ position: { x: 300, y: 50 } })
  const token = await page.getByTestId('crumb-token').textContent()
  await page.keyboard.press('ArrowRight')
  await expect(page.getByTestId('crumb-token')).toHaveText(
    `token ${Number(/[0-9]+/.exec(token ?? '')?.[0]) + 1}`,
  )
  mkdirSync(SCREENS, { recursive: true })
  for (const [width, height] of SIZES)
    for (const theme of ['dark', 'light']) {
      await resize(app, page, width, height)
      await chooseTheme(page, theme)
      await settled(page, async () => (await page.screenshot()).toString('base64'))
      await page.screenshot({ path: join(SCREENS, `ownership-beside-${theme}-${width}.png`) })
      if (width === 1280) expect(await seriousIn(page)).toEqual([])
    }
  await page.getByTestId('ownership-beside-dcp').fill('0')
  await expect(page.getByTestId('ownership-beside-note')).toContainText('dcp')
  await page.getByRole('button', { name: 'Show one rule only' }).click()
  await expect(page.getByTestId('ownership-beside-canvas')).toHaveCount(0)
})

test('on the ring a token is picked, moved and found in the sector of its owner', async ({
  desk: { page },
}) => {
  await runDefault(page)
  await showView(page, 'ownership')
  await expect(page.getByTestId('ownership-canvas')).toBeVisible()
  await page.keyboard.press('KeyR')
  const ring = page.getByTestId('ownership-ring')
  await expect(ring).toHaveAttribute('aria-label', /Ring of 1024 tokens on 4 ranks; .*turns .* to 255 of 256/)
  await page.keyboard.press('End')
  await expect(page.getByTestId('crumb-token')).toHaveText(`token ${formatInt(1023)}`)
  await page.keyboard.press('ArrowLeft')
  await expect(page.getByTestId('crumb-token')).toHaveText(`token ${formatInt(1022)}`)
  const box = await ring.boundingBox()
  if (box === null) throw new Error('the ring has no box')
  // Right of the middle and below: the sector of rank 1, of four that begin at the top.
  const [x, y] = [box.x + box.width / 2 + 130, box.y + box.height / 2 + 20]
  await page.mouse.move(x, y)
  await page.mouse.move(x + 2, y + 2, { steps: 2 })
  const card = page.getByTestId('ownership-card')
  await expect(card).toBeVisible()
  const facts = await cardOf(card)
  expect(facts.owner).toBe('rank 1')
  await page.mouse.click(x + 2, y + 2)
  await expect(page.getByTestId('crumb-token')).toHaveText(`token ${facts.token}`)
  await page.keyboard.press('Home')
  await expect(ring).toHaveAttribute('aria-label', /turns 0 to /)
  expect(await seriousIn(page)).toEqual([])
  await page.keyboard.press('KeyR')
  await expect(page.getByTestId('ownership-canvas')).toBeVisible()
})

test('the calculator shows the worked example and marks a wrong field', async ({ desk: { page } }) => {
  await showView(page, 'ownership')
  await page.getByTestId('ownership-calculator').click()
  for (const [field, value] of [
    ['len', 100],
    ['dcp', 4],
    ['page', 64],
    ['interleave', 64],
  ] as const) {
    await page.getByTestId(`ownership-${field}`).fill(String(value))
  }
  for (const [rank, length] of [64, 36, 0, 0].entries())
    await expect(page.getByTestId(`ownership-length-${rank}`)).toContainText(String(length))
  await page.getByTestId('ownership-interleave').fill('60')
  await expect(page.getByTestId('ownership-invalid')).toContainText('must divide page (64), got 60')
})

test('the toolbar of the calculator is one line in a window of 1280 pixels, with room for the longest numbers', async ({
  desk: { app, page },
}) => {
  await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.setContentSize(1280, 800))
  // A display may keep a pixel for itself.
  await expect.poll(async () => Math.abs(Number(await page.evaluate('innerWidth')) - 1280)).toBeLessThan(3)
  await showView(page, 'ownership')
  await page.getByTestId('ownership-calculator').click()
  for (const [field, value] of [
    ['len', 1 << 24],
    ['dcp', 64],
    ['page', 1024],
    ['interleave', 1024],
  ] as const) {
    const input = page.getByTestId(`ownership-${field}`)
    await input.fill(String(value))
    expect(await input.evaluate((e) => e.scrollWidth <= e.clientWidth), field).toBe(true)
  }
  const middles = await page
    .getByRole('toolbar', { name: 'Ownership' })
    .locator('.button, .input')
    .evaluateAll((all) =>
      all.map((e) => {
        const { top, height } = e.getBoundingClientRect()
        return Math.round(top + height / 2)
      }),
    )
  expect(middles.length).toBe(11)
  expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(3)
})
