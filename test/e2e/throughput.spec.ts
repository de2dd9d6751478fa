import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElectronApplication, Page } from 'playwright'
import { z } from 'zod'
import { formatFloat, formatInt, formatRate } from '../../renderer/drawing/format.ts'
import { gainText } from '../../renderer/views/throughput/words.ts'
import {
  chooseTheme,
  manifestOf,
  query,
  resize,
  runDefault,
  SIZES,
  settled,
  showView,
  waitReady,
} from './desk.ts'
import { expect, test } from './fixture.ts'
import { launch } from './launch.ts'

const SCREENS = join(__dirname, '..', '..', 'test-results', 'screens')
const CLI = join(__dirname, '..', '..', 'dist', 'cli.js')
const data = mkdtempSync(join(tmpdir(), 'dcpscope-sweep-'))
const runs = join(data, 'dcpscope', 'runs')
const SWEEP = join(runs, 'small.dcp')
const LIVE = join(runs, 'live.dcp')

/** Timings between GPUs, so that they are predicted also from a CPU. */
const timings = (['all_gather', 'reduce_scatter', 'all_to_all'] as const).map((collective) => ({
  collective,
  ranks: 4,
  bytes: 4096,
  us: 10,
}))

const small = {
  base: { model: { preset: 'tiny' }, parallel: { tpSize: 4 } },
  dcp: [2, 4],
  context: [256, 4096],
  concurrency: [1, 4, 32],
  repeats: 3,
  steps: 2,
  warmup: 1,
  // 32 requests of 4096 tokens are more than the pool of one rank holds, and less than those of four.
  memory: { bytes: 500_000_000, weightBytes: 100_000_000 },
  collectives: timings,
}

/** One batch with more repeats than any test waits for. */
const endless = {
  base: { model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 2 }, parallel: { tpSize: 2 } },
  dcp: [2],
  context: [64, 128],
  concurrency: [1],
  repeats: 100,
  steps: 1000,
  memory: { bytes: 1e12 },
}

/** Starts a sweep as a user would. */
const sweepOf = (config: object, out: string) => {
  const file = join(data, 'config.json')
  writeFileSync(file, JSON.stringify(config))
  const child = spawn(process.execPath, [CLI, 'sweep', file, '--out', out, '--json'], {
    env: { ...process.env, XDG_DATA_HOME: data },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((done) =>
    child.on('close', (code) => done({ code, stdout, stderr })),
  )
  return { child, ended }
}

const rated = z.object({ dcp: z.number(), comm: z.string(), tokensPerSecond: z.number() })
const cellSchema = z.object({
  context: z.number(),
  concurrency: z.number(),
  best: rated,
  gain: z.number(),
  verdict: z.string(),
})
const documentSchema = z.object({
  points: z.number(),
  modelError: z.object({ points: z.number(), median: z.number(), p90: z.number() }),
  groups: z.array(z.object({ predicted: z.boolean(), cells: z.array(cellSchema) })),
})
let told: z.output<typeof documentSchema>

test.beforeAll(async () => {
  test.setTimeout(240_000)
  mkdirSync(runs, { recursive: true })
  mkdirSync(SCREENS, { recursive: true })
  const { code, stdout, stderr } = await sweepOf(small, SWEEP).ended
  if (code !== 0) throw new Error(`the sweep ended with ${code}: ${stderr}`)
  told = documentSchema.parse(JSON.parse(stdout))
})
test.afterAll(() => rmSync(data, { recursive: true, force: true }))

/** Opens a bundle among the recent runs in a window of its own. */
const withBundle = async (
  name: string,
  look: (page: Page, app: ElectronApplication) => Promise<void>,
): Promise<void> => {
  const { app, page, close, errors } = await launch({ dataDir: data })
  try {
    await waitReady(page, 'store')
    await page.getByTestId('run-item').filter({ hasText: name }).click()
    await expect(page.getByTestId('gain-map')).toBeVisible()
    await look(page, app)
    expect(errors).toEqual([])
  } finally {
    await close()
  }
}

const WORDS: Readonly<Record<string, string>> = { dcp: 'dcp', tp: 'tp', 'not significant': 'unclear' }

const expectMap = async (page: Page, predicted: boolean): Promise<void> => {
  const cells = told.groups.find((group) => group.predicted === predicted)?.cells ?? []
  expect(cells).toHaveLength(6)
  for (const { context, concurrency, gain, best, verdict } of cells) {
    const cell = page.getByTestId(`map-${context}-${concurrency}`)
    await expect(cell).toHaveAttribute('data-verdict', WORDS[verdict] ?? verdict)
    expect(Number(await cell.getAttribute('data-gain'))).toBeCloseTo(gain, 9)
    await expect(cell).toContainText(gainText(gain))
    await expect(cell).toContainText(`dcp${best.dcp} ${best.comm}`)
  }
}

test('a sweep is opened like a run and shows the numbers of its bundle', async () => {
  await withBundle('small', async (page, app) => {
    await expectMap(page, false)
    const { median, p90, points } = told.modelError
    await expect(page.getByTestId('model-error')).toHaveText(
      `predicted over measured step: median ${formatFloat(median, 2)}; 90% of ${formatInt(points)} points within a factor of ${formatFloat(p90, 2)}`,
    )
    await expect(page.getByTestId('sweep-measured')).toHaveText(`${told.points} of ${told.points} measured`)

    await page.getByTestId('map-4096-32').click()
    const rows = await query(
      SWEEP,
      `SELECT mode, dcp, comm, exp(avg(ln(tokens_per_s))) AS rate, string_agg(round(tokens_per_s, 12)::VARCHAR, ' ' ORDER BY repeat) AS repeats,
         median(attn_ms) AS attn, any_value(batch) AS batch, any_value(capacity_limited) AS limited
       FROM points WHERE context = 4096 AND concurrency = 32 AND provenance <> 'predicted' GROUP BY ALL`,
    )
    expect(rows).toHaveLength(5)
    expect(rows.some(({ limited }) => limited === true)).toBe(true)
    for (const { mode, dcp, comm, rate, repeats, attn, batch, limited } of rows) {
      const name = mode === 'tp' ? 'tp' : `dcp${dcp}-${comm}`
      const cells = page.getByTestId(`cell-${name}`).locator('td')
      expect(Number(await cells.nth(0).getAttribute('data-value'))).toBeCloseTo(Number(rate), 6)
      const each = String(repeats).split(' ').map(Number)
      await expect(cells.nth(1)).toHaveText(each.map(formatRate).join('  '))
      await expect(cells.nth(4)).toHaveText(formatRate(Number(attn)))
      const running = cells.nth(9)
      await expect(running).toHaveText(limited === true ? `${String(batch)} of 32` : '32')
    }

    // The inspector has the picked point exactly, and copies it so.
    await page.getByTestId('cell-tp').click()
    const point = page.getByTestId('inspector').getByRole('region', { name: 'Point' })
    await expect(point).toContainText('tp-bf16-q1-c4096-n32')
    const [repeat] = await query(
      SWEEP,
      `SELECT tokens_per_s FROM points WHERE key = 'tp-bf16-q1-c4096-n32' AND repeat = 1`,
    )
    await point.getByRole('button', { name: 'Copy repeat 1' }).click({ force: true })
    await expect
      .poll(() => app.evaluate(({ clipboard }) => clipboard.readText()))
      .toBe(String(repeat?.tokens_per_s))
    await page.getByTestId('copy-cell').click()
    const copied = await app.evaluate(({ clipboard }) => clipboard.readText())
    expect(copied.split('\n')[0]).toBe('context 4096, concurrency 32')
    expect(copied).toContain(String(repeat?.tokens_per_s))
  })
})

/** Whether each curve is dashed, by its place. */
const dashes = (page: Page): Promise<boolean[]> =>
  page
    .getByTestId('curves')
    .locator('path.recharts-line-curve')
    .evaluateAll((all) => all.map((path) => path.hasAttribute('stroke-dasharray')))

test('what is predicted is dashed and says so, and what is published is laid over with its source', async () => {
  await withBundle('small', async (page) => {
    await expect.poll(() => dashes(page)).toEqual([false, false, false, false, false])
    await page.getByTestId('toggle-model').click()
    await expect.poll(async () => (await dashes(page)).filter(Boolean).length).toBe(5)
    await expect(page.getByRole('group', { name: 'Arrangements' })).toContainText('predicted')

    await page.getByTestId('toggle-published').click()
    await expect(page.getByTestId('published-dot')).toHaveCount(2)
    // Two figures of one place lie upon each other: the card has both.
    await page.getByTestId('published-dot').last().hover()
    const facts = page.getByTestId('published-card').getByTestId('published-facts')
    await expect(facts).toHaveCount(2)
    for (const [i, value] of ['484', '468'].entries()) {
      await expect(facts.nth(i)).toContainText(value)
      await expect(facts.nth(i)).toContainText('published')
      await expect(facts.nth(i)).toContainText('https://github.com/antgroup/sglang/issues/19')
    }
    await expectMap(page, false)
    await page.getByTestId('toggle-published').click()
    await expect(page.getByTestId('published-dot')).toHaveCount(0)

    await page.getByTestId('compared-gpus').click()
    await expectMap(page, true)
    await expect.poll(() => dashes(page)).toEqual([true, true, true, true, true])
    await page.getByTestId('map-256-4').click()
    for (const row of await page.getByTestId('cell-table').locator('tbody tr').all())
      await expect(row).toContainText('predicted')
    const inspector = page.getByTestId('inspector').getByRole('region', { name: 'Point' })
    await expect(inspector.locator('.inspector-row', { hasText: 'throughput' })).toContainText('predicted')
    for (const part of ['Curves', 'Gain map', 'Summary'])
      await expect(page.getByRole('region', { name: part }).locator('h3')).toContainText('predicted')
  })
})

test('keys move through the map, the arrangements and the curves', async () => {
  await withBundle('small', async (page) => {
    const heading = page.getByTestId('cell').locator('h3')
    const selected = page.locator('.map-selected .map-cell')
    await page.keyboard.press('ArrowRight')
    await expect(selected).toHaveAttribute('data-testid', 'map-4096-1')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowUp')
    await expect(selected).toHaveAttribute('data-testid', 'map-256-4')
    await expect(heading).toContainText('Context 256, concurrency 4')
    await expect(page.getByTestId('crumb-concurrency')).toContainText('4')
    // The curves follow to the context of the cell, and mark its point.
    await expect(page.getByTestId('held')).toHaveValue('256')
    await expect(page.locator('.mark-ring')).toHaveCount(1)
    for (let i = 0; i < 5; i++) await page.keyboard.press('p')
    await expect(page.getByTestId('cell-tp')).toHaveClass(/cell-picked/)
    await page.keyboard.press('n')
    await expect(page.getByTestId('cell-dcp2-a2a')).toHaveClass(/cell-picked/)
    await page.keyboard.press('x')
    await expect(page.getByTestId('axis-context')).toHaveAttribute('aria-pressed', 'true')
    await expect(page.getByTestId('held')).toHaveValue('4')
    await page.keyboard.press('l')
    await expect(page.getByTestId('toggle-log')).toHaveAttribute('aria-pressed', 'true')
    await page.keyboard.press('r')
    await expectMap(page, false)
    await page.keyboard.press('Escape')
    await expect(selected).toHaveCount(0)
    // A click into the curves selects as well.
    const box = await page.getByTestId('curves').boundingBox()
    if (box === null) throw new Error('the curves have no box')
    await page.mouse.move(box.x + box.width - 60, box.y + 60)
    await page.mouse.click(box.x + box.width - 30, box.y + 60)
    await expect(selected).toHaveAttribute('data-testid', 'map-4096-32')
    await page.getByTestId('series-tp').click()
    await expect.poll(async () => (await dashes(page)).length).toBe(4)
  })
})

/** What a point of the sweep is, from its bundle alone. */
interface Told {
  readonly name: string
  readonly context: number
  readonly concurrency: number
  readonly batch: number
  readonly rate: number
}

const toldPoints = async (where: string): Promise<Told[]> => {
  const rows = await query(
    SWEEP,
    `SELECT mode, dcp, comm, context, concurrency, any_value(batch) AS batch, exp(avg(ln(tokens_per_s))) AS rate
     FROM points WHERE provenance <> 'predicted' AND ${where} GROUP BY ALL ORDER BY mode, dcp, comm, context, concurrency`,
  )
  return rows.map((row) => ({
    name: row.mode === 'tp' ? 'tp' : `dcp${row.dcp} ${row.comm}`,
    context: Number(row.context),
    concurrency: Number(row.concurrency),
    batch: Number(row.batch),
    rate: Number(row.rate),
  }))
}

/** Each row of a table of points: the cells with their exact values where they have any. */
const rowsIn = (page: Page, table: string): Promise<{ name: string; cells: string[]; exact: string[] }[]> =>
  page
    .getByTestId(table)
    .locator('tbody tr')
    .evaluateAll((all) =>
      all.map((row) => ({
        name: row.querySelector('th')?.textContent ?? '',
        cells: Array.from(row.querySelectorAll('td'), (cell) => cell.textContent ?? ''),
        exact: Array.from(row.querySelectorAll('td'), (cell) => cell.getAttribute('title') ?? ''),
      })),
    )

test('whoever wants fast answers and many finds the points to choose from on the front', async () => {
  await withBundle('small', async (page, app) => {
    await page.keyboard.press('f')
    await expect(page.getByTestId('picture-front')).toHaveAttribute('aria-pressed', 'true')
    await expect(page.getByTestId('held')).toHaveValue('4096')
    // A concurrency that the pool does not hold is the point of what it does hold.
    const all = await toldPoints('context = 4096')
    const points = all.filter(
      (one) =>
        !all.some(
          (other) =>
            other.name === one.name && other.batch === one.batch && other.concurrency < one.concurrency,
        ),
    )
    const latency = ({ batch, rate }: Told): number => (1000 * batch) / rate
    const best = points.filter(
      (one) => !points.some((other) => latency(other) < latency(one) && other.rate > one.rate),
    )
    const rows = await rowsIn(page, 'front-table')
    expect(rows).toHaveLength(points.length)
    const on = rows.filter(({ cells }) => cells[5] === 'on the front')
    const named = (name: string, concurrency: string): string => `${name} ${concurrency}`
    expect(on.map(({ name, cells }) => named(name, cells[0] ?? '')).sort()).toEqual(
      best.map(({ name, concurrency }) => named(name, formatInt(concurrency))).sort(),
    )
    for (const { name, cells, exact } of rows) {
      const one = points.find((told) => told.name === name && formatInt(told.concurrency) === cells[0])
      if (one === undefined) throw new Error(`${name} ${cells[0]} is no point`)
      expect(Number.parseFloat(exact[2] ?? '')).toBeCloseTo(latency(one), 6)
      expect(Number(exact[3])).toBeCloseTo(one.rate / 4, 6)
    }
    await expect(page.getByTestId('front-on')).toHaveCount(best.length)
    await expect(page.getByTestId('front-beaten')).toHaveCount(points.length - best.length)

    // A row selects its point everywhere.
    await page.getByTestId('front-table').getByRole('button').first().focus()
    await page.keyboard.press('Enter')
    const [first] = rows
    await expect(page.getByTestId('inspector')).toContainText(first?.name ?? '?')
    await expect(page.locator('.map-selected .map-cell')).toHaveAttribute(
      'data-testid',
      `map-4096-${first?.cells[0]}`,
    )
    const title = page.getByTestId('picture').locator('.plot-title').first()
    await expect(title).toHaveText('tokens/s a GPU')
    await page.keyboard.press('m')
    await expect(title).toHaveText('tokens/s of the group')
    await page.getByTestId('copy-front-table').click()
    await expect
      .poll(() => app.evaluate(({ clipboard }) => clipboard.readText()))
      .toMatch(/^arrangement\tcontext_tokens\tconcurrency_requests\tsource\tbatch_requests\tms_per_token/)
    await page.getByTestId('toggle-published').click()
    await expect(page.getByTestId('front-published')).toHaveCount(2)
    await expect(page.getByRole('region', { name: 'Published' })).toContainText('ms a token')
  })
})

test('the crossover is named on the curves where the rates say that it lies', async () => {
  await withBundle('small', async (page) => {
    const told = await toldPoints('context = 4096')
    const rateOf = (name: string, concurrency: number): number =>
      told.find((one) => one.name === name && one.concurrency === concurrency)?.rate ?? Number.NaN
    const leads = (name: string): boolean[] => [1, 4, 32].map((n) => rateOf(name, n) > rateOf('tp', n))
    const names = [...new Set(told.map(({ name }) => name))].filter((name) => name !== 'tp')
    const turns = names.flatMap((name) =>
      leads(name)
        .slice(1)
        .flatMap((lead, i) => (lead === leads(name)[i] ? [] : [name])),
    )
    await expect(page.getByTestId('crossing')).toHaveCount(turns.length)
    await expect(page.getByTestId('crossing-mark')).toHaveCount(turns.length)
    const rows = await rowsIn(page, 'crossings')
    expect([...new Set(rows.map(({ name }) => name))].sort()).toEqual([...names].sort())
    for (const { name, cells } of rows)
      if (!turns.includes(name))
        expect(cells[0]).toContain(leads(name)[0] === true ? 'faster than tp' : 'slower than tp')
    await page.getByText('Rates as a table').click()
    const rates = await rowsIn(page, 'rates-table')
    expect(rates).toHaveLength(told.length)
    for (const { name, cells, exact } of rates)
      expect(Number(exact[1])).toBeCloseTo(rateOf(name, Number(cells[0])), 6)
    // Three repeats have a confidence, which M takes away and brings back.
    await expect(page.locator('.curve-band path').first()).toBeVisible()
    await page.keyboard.press('m')
    await expect(page.locator('.curve-band')).toHaveCount(0)
  })
})

test('stages, roofline and capacity are reached by keys and say the numbers of the bundle', async () => {
  await withBundle('small', async (page) => {
    await page.keyboard.press('s')
    const [step] = await query(
      SWEEP,
      `SELECT median(step_ms_p50) AS step, median(attn_ms) AS attn, median(comm_ms) AS comm, median(wait_ms) AS wait
       FROM points WHERE key = 'dcp4-ag_rs-bf16-q1-c4096-n4' AND provenance <> 'predicted'`,
    )
    const parts = [step?.attn, step?.comm, step?.wait].map(Number)
    const stages = (await rowsIn(page, 'stages-table')).filter(({ name }) => name === 'dcp4 ag_rs')
    const row = stages.find(({ cells }) => cells[0] === '4')
    const exact = row?.exact.map(Number.parseFloat) ?? []
    for (const [i, part] of parts.entries()) expect(exact[i + 2]).toBeCloseTo(part, 6)
    const whole = Math.max(
      Number(step?.step),
      parts.reduce((sum, part) => sum + part, 0),
    )
    expect((exact[2] ?? 0) + (exact[3] ?? 0) + (exact[4] ?? 0) + (exact[5] ?? 0)).toBeCloseTo(whole, 6)
    await expect(page.getByTestId('stage-bar')).toHaveCount(15)
    await page.keyboard.press('m')
    await expect(page.getByTestId('stages-table').locator('tbody td').nth(2)).toContainText('ms')

    await page.keyboard.press('o')
    const roof = await rowsIn(page, 'roofline-table')
    expect(roof).toHaveLength(15)
    await expect(page.getByTestId('roof-point')).toHaveCount(15)
    for (const { cells } of roof) expect(cells[8]).toMatch(/^(memory bandwidth|matrix units)$/)
    await expect(page.getByTestId('picture').locator('h3')).toContainText('work of one rank, which shares')
    await page.keyboard.press('m')
    await expect(page.getByTestId('picture').locator('h3')).toContainText('Roofline of the step')

    await page.keyboard.press('k')
    for (const { name, batch, concurrency } of await toldPoints('context = 4096 AND concurrency = 32')) {
      const cell = page
        .getByTestId(`capacity-${name.replace(' ', '-')}`)
        .locator('td')
        .last()
      const requests = Number(((await cell.textContent()) ?? '').replace(/\D/g, ''))
      if (batch < concurrency) expect(requests).toBe(batch)
      else expect(requests).toBeGreaterThanOrEqual(concurrency)
    }
    await page.keyboard.press('c')
    await expect(page.getByTestId('curves')).toBeVisible()
  })
})

test('nothing overlaps or is cut off in either theme and size', async () => {
  test.slow()
  await withBundle('small', async (page, app) => {
    await page.getByTestId('map-4096-32').click()
    await page.getByTestId('toggle-model').click()
    for (const [width, height] of SIZES) {
      await resize(app, page, width, height)
      for (const theme of ['dark', 'light']) {
        await chooseTheme(page, theme)
        // Text of cells fits, the table needs no scroll bar, the toolbar is one line, labels of the axis are whole.
        const cut = await page
          .locator('.map-cell, .throughput-scroll:not(.throughput-rows), .throughput-chart')
          .evaluateAll((all) =>
            all
              .filter((e) => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)
              .map((e) => e.className),
          )
        expect(cut, `${width} ${theme}`).toEqual([])
        const toolbar = await page.getByRole('toolbar', { name: 'Throughput' }).boundingBox()
        expect(toolbar?.height).toBeLessThan(40)
        const labels = await page
          .getByTestId('curves')
          .locator('.recharts-cartesian-axis-tick-value')
          .evaluateAll((all) => all.map((e) => e.getBoundingClientRect().toJSON()))
        expect(labels.length).toBeGreaterThan(5)
        const left = await page.getByTestId('curves').boundingBox()
        for (const label of labels) expect(label.left).toBeGreaterThanOrEqual(left?.x ?? 0)
        for (const picture of ['front', 'stages', 'roofline', 'capacity', 'curves']) {
          await page.getByTestId(`picture-${picture}`).click()
          const shot = await settled(page, async () => (await page.screenshot()).toString('base64'))
          writeFileSync(join(SCREENS, `throughput-${picture}-${theme}-${width}.png`), shot, 'base64')
          const wide = await page
            .getByTestId('picture')
            .locator('.throughput-scroll, .throughput-chart, .throughput-picture-bar')
            .evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).length)
          expect(wide, `${picture} ${width} ${theme}`).toBe(0)
          const outside = await page
            .getByTestId('picture')
            .locator('svg[role="img"]')
            .evaluateAll(
              (all) =>
                all.flatMap((svg) => {
                  const { left, right } = svg.getBoundingClientRect()
                  return Array.from(svg.querySelectorAll('text')).filter((text) => {
                    const box = text.getBoundingClientRect()
                    return box.left < left - 1 || box.right > right + 1
                  })
                }).length,
            )
          expect(outside, `labels of ${picture} ${width} ${theme}`).toBe(0)
        }
      }
    }
  })
})

test('other views say that a sweep has nothing for them, and Throughput that a run has nothing for it', async () => {
  await withBundle('small', async (page) => {
    for (const view of ['timeline', 'ownership', 'merge'] as const) {
      await showView(page, view)
      await expect(page.getByTestId('nothing-of-sweep')).toContainText('A sweep is open')
    }
    await showView(page, 'ownership')
    await page.getByTestId('ownership-of-sweep').click()
    await expect(page.getByTestId('ownership-canvas')).toBeVisible()
    await showView(page, 'merge')
    await page.getByRole('button', { name: 'Go to Throughput' }).click()
    await expect(page.getByTestId('gain-map')).toBeVisible()
  })
})

test('Throughput says what to do while a run or nothing is open', async ({ desk: { page } }) => {
  await showView(page, 'throughput')
  await expect(page.getByTestId('throughput-no-sweep')).toContainText('No sweep is open')
  await showView(page, 'run')
  await runDefault(page)
  await showView(page, 'throughput')
  await expect(page.getByTestId('throughput-no-sweep')).toContainText('The open bundle holds one run')
  await page.getByRole('button', { name: 'Go to Run' }).click()
  await expect(page.getByTestId('run-status')).toBeVisible()
})

test('a sweep is followed while it is measured, and says how to go on when it was stopped', async () => {
  const { child, ended } = sweepOf(endless, LIVE)
  try {
    await expect.poll(() => safeStatus(LIVE), { timeout: 30_000 }).toBe('running')
    await withBundle('live', async (page) => {
      await expect(page.getByTestId('top-status')).toHaveText('running')
      await page.getByTestId('map-64-1').click()
      const repeats = async (): Promise<number> =>
        (await page.getByTestId('cell-tp').locator('td').nth(1).textContent())?.split('  ').length ?? 0
      await expect(page.getByTestId('cell-tp')).toBeVisible()
      const before = await repeats()
      await expect.poll(repeats).toBeGreaterThan(before)
      child.kill('SIGINT')
      await ended
      await expect(page.getByTestId('top-status')).toHaveText('stopped')
      await expect(page.getByTestId('go-on')).toHaveText('dcpscope sweep --out live.dcp')
      const [row] = await query(
        LIVE,
        `SELECT count(*)::INTEGER AS n FROM points WHERE key LIKE 'tp-%c64-n1' AND repeat IS NOT NULL`,
      )
      await expect.poll(repeats).toBe(Number(row?.n))
    })
  } finally {
    child.kill('SIGKILL')
    await ended
  }
})

const safeStatus = (bundle: string): string => {
  try {
    return manifestOf(bundle).status
  } catch {
    return 'not there yet'
  }
}
