import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { EVENT_KINDS, SEVERITIES } from '../../app/trace/stages.ts'
import type { TraceChunk } from '../../app/trace/tables.ts'
import { formatInt, formatNs } from '../../renderer/drawing/format.ts'
import { markPlace } from '../../renderer/views/timeline/event-marks.ts'
import { lanesOf, laneTop } from '../../renderer/views/timeline/lanes.ts'
import { SLOW, slowRank } from '../unit/store/rank-timeline.ts'
import { eventChunk } from '../unit/store/sample.ts'
import { rangeOf, settled, showView, span, waitReady } from './desk.ts'
import { expect, test } from './fixture.ts'
import { type Launched, launch } from './launch.ts'
import { writeSlowBundle } from './slow-bundle.ts'

const TIMELINE = slowRank()
const RANKS = TIMELINE.spans.length
const STEPS = TIMELINE.steps.length
/** NaN of rank 1 in step 9, and rank 3 without keys in step 14, noticed at the ends of their steps. */
const HAPPENED = [
  { kind: 'nan_in_partial', severity: 'error', rank: 1, step: 9 },
  { kind: 'empty_rank', severity: 'info', rank: 3, step: 14 },
] as const
const blank = eventChunk(HAPPENED.map(() => 'said'))
const EVENTS: TraceChunk = {
  ...blank,
  columns: {
    ...blank.columns,
    step: Int32Array.from(HAPPENED, ({ step }) => step),
    rank: Int32Array.from(HAPPENED, ({ rank }) => rank),
    time_ns: BigInt64Array.from(HAPPENED, ({ step }) => BigInt(TIMELINE.steps[step]?.endNs ?? 0)),
    kind: Uint8Array.from(HAPPENED, ({ kind }) => EVENT_KINDS.indexOf(kind)),
    severity: Uint8Array.from(HAPPENED, ({ severity }) => SEVERITIES.indexOf(severity)),
  },
}
const data = mkdtempSync(join(tmpdir(), 'dcpscope-timeline-'))
let bundle: string
test.beforeAll(async () => {
  bundle = await writeSlowBundle(data, { timeline: TIMELINE, chunks: [EVENTS] })
})
test.afterAll(() => rmSync(data, { recursive: true, force: true }))

let desk: Launched
test.beforeEach(async () => {
  desk = await launch({ dataDir: data })
  await waitReady(desk.page, 'store')
  await desk.page.getByTestId('run-item').first().click()
  await expect(desk.page.getByTestId('run-steps')).toHaveText(String(STEPS))
  await showView(desk.page, 'timeline')
  await expect(desk.page.getByTestId('timeline-canvas')).toBeVisible()
})
test.afterEach(async () => {
  const { errors } = desk
  await desk.close()
  expect(errors).toEqual([])
})

const plotOf = async (page: Page) => {
  const box = await page.getByTestId('timeline-canvas').boundingBox()
  if (box === null) throw new Error('the timeline has no box')
  const lanes = lanesOf(box.height, RANKS, 0)
  const range = await rangeOf(page)
  const width = box.width - lanes.labelWidth
  return {
    lanes,
    x: (ns: number): number => box.x + lanes.labelWidth + ((ns - range.start) / span(range)) * width,
    y: (rank: number): number => box.y + laneTop(rank, lanes) + lanes.laneHeight / 2,
    ruler: box.y + 40,
  }
}

const dragged = async (page: Page, from: readonly [number, number], to: readonly [number, number]) => {
  await page.mouse.move(...from)
  await page.mouse.down()
  await page.mouse.move(...to, { steps: 5 })
  await page.mouse.up()
}

/** Start and end of a step of the run. */
const stepAt = (step: number) => {
  const found = TIMELINE.steps[step]
  if (found === undefined) throw new Error(`there is no step ${step}`)
  return found
}

test('Ctrl and drag zooms to what it covers, and Backspace goes back', async () => {
  const { page } = desk
  const whole = await settled(page, () => rangeOf(page))
  const plot = await plotOf(page)
  const [from, to] = [stepAt(5).startNs, stepAt(7).endNs]
  await page.keyboard.down('Control')
  await dragged(page, [plot.x(from), plot.y(1)], [plot.x(to), plot.y(2)])
  await page.keyboard.up('Control')
  const near = await settled(page, () => rangeOf(page))
  const pixel = span(whole) / 500
  expect(Math.abs(near.start - from)).toBeLessThan(pixel)
  expect(Math.abs(near.end - to)).toBeLessThan(pixel)
  await page.keyboard.press('Backspace')
  expect(await settled(page, () => rangeOf(page))).toEqual(whole)
})

test('a drag on the ruler measures from edge to edge; the time is shown and copied', async () => {
  const { page, app } = desk
  const plot = await plotOf(page)
  const { startNs, endNs } = stepAt(8)
  await dragged(page, [plot.x(startNs) + 2, plot.ruler], [plot.x(endNs) - 2, plot.ruler])
  const measure = page.getByTestId('timeline-measure')
  await expect(measure).toContainText(formatNs(endNs - startNs))
  await page.keyboard.press('KeyC')
  await expect.poll(() => app.evaluate(({ clipboard }) => clipboard.readText())).toBe(`${endNs - startNs} ns`)
  await page.getByTestId('timeline-unmark').click()
  await expect(measure).toHaveCount(0)

  // The same with keys alone: from the start of one span to that of the next.
  await page.mouse.move(5, 5)
  const selected = page.getByTestId('inspector').getByRole('region', { name: 'Span' })
  await page.keyboard.press('KeyN')
  for (const stage of ['q_all_gather', 'kv_append']) {
    await page.keyboard.press('Period')
    await expect(selected).toContainText(stage)
    await page.keyboard.press('KeyM')
  }
  const [first, second] = TIMELINE.spans[0] ?? []
  await expect(measure).toContainText(formatNs((second?.start ?? 0) - (first?.start ?? 0)))
})

test('statistics name the rank that works longest, of the run, of a step and of a marked area', async () => {
  const { page } = desk
  await page.keyboard.press('KeyT')
  const table = page.getByTestId('timeline-stats')
  const scope = page.getByTestId('timeline-stats-scope')
  await expect(scope).toContainText('the whole run')
  const attention = table.getByRole('row', { name: /decode_attn/ })
  await expect(attention).toContainText(formatInt(STEPS * 2 * RANKS))
  await expect(attention).toContainText(formatNs(SLOW.plainNs))
  await expect(attention).toContainText(formatNs(SLOW.slowNs))

  await page.getByTestId('timeline-stats-rank').click()
  await table.getByRole('button', { name: /^own/ }).click()
  const first = table.getByRole('row').nth(1)
  await expect(first.getByRole('rowheader')).toHaveText(String(SLOW.rank))
  await table.getByRole('button', { name: /^waiting/ }).click()
  await expect(first.getByRole('rowheader')).not.toHaveText(String(SLOW.rank))
  await table.getByRole('button', { name: /^waiting/ }).click()
  await expect(first.getByRole('rowheader')).toHaveText(String(SLOW.rank))

  // One step, on one rank.
  const plot = await plotOf(page)
  const { startNs, endNs } = stepAt(3)
  await page.keyboard.down('Shift')
  await dragged(page, [plot.x(startNs) - 1, plot.y(1)], [plot.x(endNs) + 1, plot.y(1)])
  await page.keyboard.up('Shift')
  await expect(scope).toContainText('rank 1')
  await expect(table.getByRole('row')).toHaveCount(2)
  await page.getByTestId('timeline-stats-stage').click()
  await expect(attention.getByRole('cell').first()).toHaveText('2')

  // The longest span is a click away.
  await page.keyboard.press('Escape')
  await expect(attention).toContainText(formatInt(STEPS * 2 * RANKS))
  await attention.getByRole('button').click()
  await expect(page.getByTestId('inspector').getByRole('region', { name: 'Span' })).toContainText(
    formatNs(SLOW.slowNs),
  )
})

test('the critical path names the slow rank and its stage, and leads to it', async () => {
  const { page } = desk
  await page.keyboard.press('KeyK')
  await page.getByTestId('timeline-longest-step').click()
  const verdict = page.getByTestId('timeline-verdict')
  await expect(verdict).toContainText(`Rank ${SLOW.rank} is the slowest`)
  await expect(verdict).toContainText(
    `decode_attn took ${formatNs(2 * SLOW.slowNs)}, the median of the others ${formatNs(2 * SLOW.plainNs)}`,
  )
  const table = page.getByTestId('timeline-path')
  await expect(table.getByRole('row')).toHaveCount(RANKS + 1)
  await page.getByTestId('timeline-path-stages').click()
  const first = table.getByRole('row').nth(1)
  await expect(first).toContainText('decode_attn')
  await expect(first).toContainText(formatNs(2 * SLOW.slowNs))
  await first.getByRole('button').click()
  const selected = page.getByTestId('inspector').getByRole('region', { name: 'Span' })
  await expect(selected).toContainText(formatNs(SLOW.slowNs))
  await expect(page.getByTestId('crumb-rank')).toContainText(String(SLOW.rank))
  await page.getByTestId('timeline-path-parts').click()
  await expect(table.getByRole('row')).not.toHaveCount(1)
})

test('a selected collective says which rank came last, and tells waiting from transfer', async () => {
  const { page } = desk
  const gather = TIMELINE.spans[0]?.find(
    ({ lastEnter, start }) => lastEnter !== undefined && lastEnter > start,
  )
  if (gather === undefined) throw new Error('rank 0 waits for nobody')
  await page.keyboard.press('KeyN')
  const selected = page.getByTestId('inspector').getByRole('region', { name: 'Span' })
  const row = (label: string) =>
    selected.locator('.inspector-row', { has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) })
  for (let presses = 0; presses < 8; presses++) {
    await page.keyboard.press('Period')
    const place = TIMELINE.spans[0]?.[presses]
    await expect(row('start')).toContainText(formatInt(place?.start ?? 0))
    if (place === gather) break
  }
  await expect(row('entered last')).toContainText(`rank ${SLOW.rank}`)
  const waitNs = (gather.lastEnter ?? 0) - gather.start
  const transferNs = gather.dur - waitNs
  await expect(row('rank 0')).toContainText(`${formatNs(waitNs)} + ${formatNs(transferNs)}`)
  await expect(row(`rank ${SLOW.rank}`)).toContainText(`${formatNs(0)} + ${formatNs(transferNs)}`)
})

test('lanes are pinned, moved and folded with mouse and keys, and lie there at the next start', async () => {
  const userData = mkdtempSync(join(tmpdir(), 'dcpscope-lanes-'))
  const open = async (): Promise<Launched> => {
    const opened = await launch({ dataDir: data, userData })
    await waitReady(opened.page, 'store')
    await opened.page.getByTestId('run-item').first().click()
    await showView(opened.page, 'timeline')
    await expect(opened.page.getByTestId('timeline-canvas')).toBeVisible()
    return opened
  }
  /** The rank on a lane, as the card under the pointer says it. */
  const rankOn = async (page: Page, slot: number): Promise<string> => {
    const plot = await plotOf(page)
    const x = plot.x(stepAt(4).startNs + 20_000)
    await page.mouse.move(x - 1, plot.y(slot))
    await page.mouse.move(x, plot.y(slot))
    const card = page.getByTestId('timeline-card')
    return (await card.locator('dt:text-is("rank") + dd').textContent()) ?? ''
  }
  const order = async (page: Page): Promise<string> => {
    const ranks: string[] = []
    for (let slot = 0; slot < RANKS; slot++) ranks.push(await rankOn(page, slot))
    return ranks.join(' ')
  }
  let opened = await open()
  try {
    const { page } = opened
    expect(await order(page)).toBe('0 1 2 3')
    for (let rank = 0; rank <= SLOW.rank; rank++) await page.keyboard.press('KeyN')
    await page.keyboard.press('Shift+KeyT')
    await expect(page.getByTestId('timeline-pin')).toHaveAttribute('aria-pressed', 'true')
    expect(await order(page)).toBe('2 0 1 3')

    // By its name rank 0 goes to the end, and with keys one place up again.
    const plot = await plotOf(page)
    const names = plot.x((await rangeOf(page)).start) - 40
    await dragged(page, [names, plot.y(1)], [names, plot.y(3)])
    expect(await order(page)).toBe('2 1 3 0')
    await page.mouse.click(names, plot.y(3))
    await page.keyboard.press('Shift+ArrowUp')
    expect(await order(page)).toBe('2 1 0 3')
    await expect(page.getByTestId('timeline-lane-up')).toBeEnabled()
  } finally {
    await opened.close()
  }
  opened = await open()
  try {
    const { page } = opened
    expect(await order(page)).toBe('2 1 0 3')
    await page.keyboard.press('KeyN')
    await expect(page.getByTestId('crumb-rank')).toContainText('2')
    await page.keyboard.press('KeyG')
    await expect(page.getByTestId('timeline-fold')).toHaveAttribute('aria-pressed', 'true')
    await page.getByTestId('timeline-lanes-reset').click()
    expect(await order(page)).toBe('0 1 2 3')
  } finally {
    await opened.close()
    rmSync(userData, { recursive: true, force: true })
  }
})

test('a note on a span is kept in the bundle, found by the search, shown, changed and undone', async () => {
  const { page } = desk
  const file = join(bundle, 'notes.json')
  const selected = page.getByTestId('inspector').getByRole('region', { name: 'Span' })
  await page.keyboard.press('KeyN')
  await page.keyboard.press('Period')
  await expect(selected).toContainText('q_all_gather')
  await page.keyboard.press('KeyE')
  const field = page.getByTestId('timeline-note')
  await expect(field).toBeFocused()
  await page.keyboard.type('Who is late here?')
  await page.keyboard.press('Control+Enter')
  const table = page.getByTestId('timeline-notes')
  await expect(table.getByRole('row', { name: /Who is late here/ })).toHaveCount(1)
  await expect(selected).toContainText('Who is late here?')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    notes: [{ rank: 0, stage: 'q_all_gather', startNs: 0, step: 0, text: 'Who is late here?' }],
  })

  // From elsewhere the search leads back to it.
  await page.keyboard.press('Escape')
  await showView(page, 'ownership')
  await page.keyboard.press('Control+F')
  await page.keyboard.type('late')
  await page.getByRole('option', { name: /Who is late here/ }).click()
  await expect(page.getByTestId('timeline-canvas')).toBeVisible()
  await expect(selected).toContainText('Who is late here?')

  await page.getByTestId('timeline-note-remove').click()
  await expect(table.getByRole('row', { name: /Who is late here/ })).toHaveCount(0)
  expect(existsSync(file)).toBe(false)
  await page.getByTestId('timeline-canvas').focus()
  await page.keyboard.press('Control+KeyZ')
  await expect(table.getByRole('row', { name: /Who is late here/ })).toHaveCount(1)
  await expect(field).toHaveValue('Who is late here?')

  // Where the bundle cannot be written to, it says so and what was typed stays.
  mkdirSync(join(bundle, '.notes.json.tmp'))
  try {
    await field.fill('Lost?')
    await page.getByTestId('timeline-note-keep').click()
    await expect(page.getByText(/the bundle cannot be written to/).first()).toBeVisible()
    await expect(field).toHaveValue('Lost?')
    await expect(table.getByRole('row', { name: /Who is late here/ })).toHaveCount(1)
  } finally {
    rmSync(join(bundle, '.notes.json.tmp'), { recursive: true })
    rmSync(file, { force: true })
  }
})

test('NaN and ranks without keys are marks on their lanes that lead to their steps, and rows of the table', async () => {
  const { page } = desk
  const box = await page.getByTestId('timeline-canvas').boundingBox()
  if (box === null) throw new Error('the timeline has no box')
  const lanes = lanesOf(box.height, RANKS, 0)
  const { start, end } = await rangeOf(page)
  const card = page.getByTestId('timeline-mark-card')
  const at = (happened: (typeof HAPPENED)[number]) => {
    const mark = { ...happened, timeNs: stepAt(happened.step).endNs, layer: 0, count: 1 }
    const place = markPlace(mark, { startNs: start, endNs: end }, lanes, box.width - lanes.labelWidth)
    if (place === null) throw new Error('the mark is not seen')
    return { x: box.x + lanes.labelWidth + place.x, y: box.y + place.y }
  }
  const [nan, empty] = HAPPENED
  for (const [happened, word] of [
    [nan, 'NaN'],
    [empty, 'Rank without keys'],
  ] as const) {
    const { x, y } = at(happened)
    await page.mouse.move(x - 2, y)
    await page.mouse.move(x, y)
    await expect(card).toContainText(word)
    await expect(card).toContainText(String(happened.step))
    await page.mouse.click(x, y)
    await expect(page.getByTestId('crumb-step')).toContainText(String(happened.step))
    await expect(page.getByTestId('crumb-rank')).toContainText(String(happened.rank))
  }

  await page.mouse.move(5, 5)
  await page.keyboard.press('KeyF')
  await page.keyboard.press('KeyV')
  const table = page.getByTestId('timeline-drawn')
  await expect(table.getByRole('row', { name: /event Rank without keys/ })).toHaveCount(1)
  // Each stage of each rank and layer of the step, and what lies in the margins.
  await expect(table.getByRole('row', { name: /stage decode_attn/ })).not.toHaveCount(0)
  await expect(page.getByTestId('timeline-drawn-caption')).not.toContainText('merged')
  await page.keyboard.press('Digit0')
  await expect(table.getByRole('row', { name: /event NaN/ })).toHaveCount(1)
})

test('a person finds the rank that is slow with the mouse', async () => {
  const { page } = desk
  await page.getByTestId('timeline-panel-stats').click()
  await page.getByTestId('timeline-stats-rank').click()
  const stats = page.getByTestId('timeline-stats')
  await stats.getByRole('button', { name: /^own/ }).click()
  await expect(stats.getByRole('row').nth(1).getByRole('rowheader')).toHaveText(String(SLOW.rank))
  // Its longest span leads to a step, whose path says why.
  await stats.getByRole('row').nth(1).getByRole('button').click()
  await page.getByTestId('timeline-panel-path').click()
  await expect(page.getByTestId('timeline-verdict')).toContainText(`Rank ${SLOW.rank} is the slowest`)
  await expect(page.getByTestId('timeline-verdict')).toContainText('Its decode_attn took')
})

test('a person finds the rank that is slow with keys alone', async () => {
  const { page } = desk
  await page.keyboard.press('KeyK')
  await page.keyboard.press('BracketRight')
  const verdict = page.getByTestId('timeline-verdict')
  await expect(verdict).toContainText(`Rank ${SLOW.rank} is the slowest`)
  await expect(verdict).toContainText('Its decode_attn took')
  // Tab goes on to the rank, whose lane is then selected.
  const table = page.getByTestId('timeline-path')
  const rank = table.getByRole('button', { name: String(SLOW.rank), exact: true })
  for (let tabs = 0; tabs < 90; tabs++) {
    if (await rank.evaluate((element) => element === document.activeElement)) break
    await page.keyboard.press('Tab')
  }
  await expect(rank).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('crumb-rank')).toContainText(String(SLOW.rank))
  await expect(rank).toHaveAttribute('aria-pressed', 'true')
})
