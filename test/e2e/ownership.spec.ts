import type { Locator } from 'playwright'
import { localLengths, owner } from '../../app/dcp/ownership.ts'
import { formatInt } from '../../renderer/drawing/format.ts'
import { manifestOf, numbers, onlyBundle, query, runDefault, showView } from './desk.ts'
import { expect, test } from './fixture.ts'

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
