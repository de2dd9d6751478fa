import type { Locator, Page } from 'playwright'
import { formatBytes, formatInt, formatNs } from '../../renderer/drawing/format.ts'
import { type Lanes, lanesOf, laneTop } from '../../renderer/views/timeline/lanes.ts'
import {
  field,
  onlyBundle,
  query,
  type Range,
  type Row,
  rangeOf,
  runDefault,
  settled,
  showView,
  span,
  waitReady,
  wheelIn,
} from './desk.ts'
import { expect, test } from './fixture.ts'

const RANKS = 4

interface Plot {
  /** Left edge and width of the part of the canvas that shows time, and the canvas' top, in page pixels. */
  readonly left: number
  readonly width: number
  readonly top: number
  readonly lanes: Lanes
}

const plotOf = async (page: Page): Promise<Plot> => {
  const box = await page.getByTestId('timeline-canvas').boundingBox()
  if (box === null) throw new Error('the timeline has no box')
  const lanes = lanesOf(box.height, RANKS, 0)
  return { left: box.x + lanes.labelWidth, width: box.width - lanes.labelWidth, top: box.y, lanes }
}

const xOf = (ns: number, range: Range, plot: Plot): number =>
  plot.left + ((ns - range.start) / span(range)) * plot.width

const middleOf = (row: Row): number => Number(row.start_ns) + Number(row.dur_ns) / 2

/** Turns the wheel over a time of a rank until its span fills a good part of the plot. */
const zoomTo = async (page: Page, row: Row): Promise<{ x: number; y: number }> => {
  const plot = await plotOf(page)
  const y = plot.top + laneTop(Number(row.rank), plot.lanes) + plot.lanes.laneHeight / 2
  for (let turns = 0; turns < 60; turns++) {
    const range = await rangeOf(page)
    const x = xOf(middleOf(row), range, plot)
    await page.mouse.move(x, y)
    if ((Number(row.dur_ns) / span(range)) * plot.width > 60) return { x, y }
    await wheelIn(page, 1)
  }
  throw new Error('the wheel did not reach the span')
}

const factsOf = async (card: Locator): Promise<Record<string, string>> => {
  const labels = await card.locator('dt').allTextContents()
  const values = await card.locator('dd').allTextContents()
  return Object.fromEntries(labels.map((label, i) => [label, values[i] ?? '']))
}

/**
 * A span of the attention on some rank other than the first, and a collective in which a rank waited. Not of the last
 * step: its end lies at the border of the view, under the edge by which the inspector is resized.
 */
const spansToLookAt = async (bundle: string): Promise<Row[]> =>
  query(
    bundle,
    `(SELECT * FROM spans WHERE stage = 'decode_attn' AND rank = 2 AND step < 20 ORDER BY dur_ns DESC LIMIT 1)
     UNION ALL
     (SELECT * FROM spans WHERE enter_ns IS NOT NULL AND rank = 1 AND step < 20 ORDER BY last_enter_ns - enter_ns DESC LIMIT 1)`,
  )

test('the wheel zooms at the pointer down to one span, whose card has the numbers of the bundle', async ({
  desk: { page, dataDir },
}) => {
  await runDefault(page)
  await showView(page, 'timeline')
  await expect(page.getByTestId('timeline-canvas')).toBeVisible()
  const rows = await spansToLookAt(onlyBundle(dataDir))
  expect(rows).toHaveLength(2)
  for (const row of rows) {
    await page.keyboard.press('Digit0')
    const { x, y } = await zoomTo(page, row)
    const time = middleOf(row)
    const kept = xOf(time, await rangeOf(page), await plotOf(page))
    expect(Math.abs(kept - x)).toBeLessThan(2)
    await page.mouse.move(x - 4, y - 4)
    await page.mouse.move(x, y, { steps: 3 })
    const card = page.getByTestId('timeline-card')
    const collective = row.enter_ns !== null
    const waitNs = Math.max(0, Number(row.last_enter_ns) - Number(row.enter_ns))
    await expect
      .poll(() => factsOf(card))
      .toMatchObject({
        stage: String(row.stage),
        rank: String(row.rank),
        step: String(row.step),
        layer: String(row.layer),
        start: `${formatInt(Number(row.start_ns))}\u2009ns`,
        duration: formatNs(Number(row.dur_ns)),
        bytes: formatBytes(Number(row.bytes)),
        ...(collective ? { waiting: formatNs(waitNs), collective: `#${row.collective_seq}` } : {}),
        ...(Number(row.flops) > 0 ? { operations: formatInt(Number(row.flops)) } : {}),
      })
  }
})

test('a click on a span selects its step and rank everywhere', async ({ desk: { page, dataDir } }) => {
  await runDefault(page)
  await showView(page, 'timeline')
  const [row] = await spansToLookAt(onlyBundle(dataDir))
  if (row === undefined) throw new Error('the run has no span')
  const { x, y } = await zoomTo(page, row)
  await page.mouse.click(x, y)
  await expect(page.getByTestId('step-range')).toHaveValue(String(row.step))
  await showView(page, 'ownership')
  await expect(page.getByTestId(`ownership-length-${row.rank}`)).toHaveAttribute('aria-pressed', 'true')
  const span = page.getByTestId('inspector').getByRole('region', { name: 'Span' })
  await expect(span).toContainText(formatNs(Number(row.dur_ns)))
  await page.getByTestId('crumb-timeNs').click()
  await expect(span).toHaveCount(0)
  await expect(page.getByTestId('ownership-step')).toHaveValue(String(row.step))
})

test('drag and A D pan, W S zoom, 0 fits and Backspace goes back', async ({ desk: { page } }) => {
  await runDefault(page)
  await showView(page, 'timeline')
  await expect(page.getByTestId('timeline-canvas')).toBeVisible()
  const whole = await settled(page, () => rangeOf(page))
  const press = async (key: string): Promise<Range> => {
    await page.keyboard.press(key)
    // A tap moves on for as long as the key was down, which is over with the next frames.
    return settled(page, () => rangeOf(page))
  }
  const zoomed = await press('KeyW')
  expect(span(zoomed)).toBeLessThan(span(whole))
  for (let i = 0; i < 8; i++) await press('KeyW')
  const near = await rangeOf(page)

  const plot = await plotOf(page)
  const y = plot.top + plot.lanes.rulerHeight + 20
  await page.mouse.move(plot.left + 400, y)
  await page.mouse.down()
  await page.mouse.move(plot.left + 250, y, { steps: 5 })
  await page.mouse.up()
  const dragged = await settled(page, () => rangeOf(page))
  expect(span(dragged)).toBeCloseTo(span(near), 3)
  expect((dragged.start - near.start) / ((150 / plot.width) * span(near))).toBeCloseTo(1, 1)

  const right = await press('KeyD')
  expect(right.start).toBeGreaterThan(dragged.start)
  const left = await press('KeyA')
  expect(left.start).toBeLessThan(right.start)
  expect(span(await press('KeyS'))).toBeGreaterThan(span(left))
  expect(await press('Digit0')).toEqual(whole)
  expect(span(await press('Backspace'))).toBeLessThan(span(whole))
})

test('a live run grows, is followed, and stays where a drag has put it', async ({ desk: { page } }) => {
  await waitReady(page, 'engine')
  await field(page, 'workload.steps').fill('20000')
  await page.getByTestId('run-start').click()
  await expect(page.getByTestId('run-status')).toHaveText('running')
  await showView(page, 'timeline')
  await expect(page.getByTestId('timeline-canvas')).toBeVisible({ timeout: 15_000 })
  const first = await rangeOf(page)
  await expect.poll(async () => (await rangeOf(page)).end).toBeGreaterThan(first.end)
  const plot = await plotOf(page)
  const y = plot.top + plot.lanes.rulerHeight + 20
  await page.mouse.move(plot.left + 300, y)
  for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -300)
  await page.mouse.down()
  await page.mouse.move(plot.left + 500, y, { steps: 4 })
  await page.mouse.up()
  await expect(page.getByTestId('timeline-follow')).toHaveAttribute('aria-pressed', 'false')
  const held = await settled(page, () => rangeOf(page))
  const lastStep = async (): Promise<number> =>
    Number(await page.getByTestId('step-range').getAttribute('max'))
  const seen = await lastStep()
  await expect.poll(lastStep).toBeGreaterThan(seen)
  expect(await rangeOf(page)).toEqual(held)
  await page.getByTestId('timeline-follow').click()
  await expect.poll(async () => (await rangeOf(page)).end).toBeGreaterThan(held.end)
})
