import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ElectronApplication, Page } from 'playwright'
import { seriousIn } from './axe.ts'
import {
  chooseTheme,
  invoke,
  numbers,
  onlyBundle,
  query,
  resize,
  runDefault,
  SIZES,
  settled,
  showView,
  stateOf,
  waitReady,
} from './desk.ts'
import { expect, test } from './fixture.ts'
import { type Launched, launch } from './launch.ts'

const ROOT = join(__dirname, '..', '..')
const SCREENS = join(ROOT, 'test-results', 'screens')

/**
 * NaN of rank 2, which holds no key of request 1, goes into the merge from step 30 on, in layers 3 to 5 of 8; before that it is
 * made neutral.
 */
const SPREADING = {
  model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 8 },
  parallel: { tpSize: 4, dcpSize: 4, interleave: 32 },
  cache: { pageSize: 32 },
  workload: { requests: [{ contextLen: 300 }, { contextLen: 0 }, { contextLen: 150 }], steps: 60 },
  engine: { device: 'cpu', emptyRow: 'nan', zeroWeight: 'multiplied' },
  check: { rows: 4 },
  capture: { steps: [30], layers: [3] },
  faults: [
    {
      fault: 'empty-row-not-neutralised',
      ranks: [2],
      layers: [3, 4, 5],
      steps: Array.from({ length: 30 }, (_, i) => 30 + i),
    },
  ],
}

let folder: string
let bundle: string

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-events-'))
  bundle = join(folder, 'spreading.dcp')
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify(SPREADING))
  const outcome = await promisify(execFile)(process.execPath, [
    join(ROOT, 'dist', 'cli.js'),
    'run',
    config,
    '--out',
    bundle,
  ]).catch((error: { code?: unknown }) => error)
  // The check of the run fails, as it should.
  expect('code' in outcome ? outcome.code : 0).toBe(1)
})

test.afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Opens the window with the bundle and its events. */
const opened = async (): Promise<Launched> => {
  const launched = await launch({ args: [bundle] })
  await expect(launched.page.getByTestId('run-status')).toHaveAttribute('data-value', 'complete', {
    timeout: 30_000,
  })
  await showView(launched.page, 'events')
  await expect(launched.page.getByTestId('cause')).toBeVisible()
  return launched
}

const using = async (work: (launched: Launched) => Promise<void>): Promise<void> => {
  const launched = await opened()
  try {
    await work(launched)
    expect(launched.errors).toEqual([])
  } finally {
    await launched.close()
  }
}

const clipboard = (app: ElectronApplication): Promise<string> =>
  app.evaluate(({ clipboard: board }) => board.readText())

const crumb = (page: Page, part: string) => page.getByTestId(`crumb-${part}`).locator('.num')

const total = async (page: Page): Promise<string> =>
  (await page.getByTestId('events-total').textContent())?.replace(/\s/g, '') ?? ''

test('the cause of a NaN is found, and looked at in other views', async () => {
  await using(async ({ app, page }) => {
    const first = await numbers(
      bundle,
      "SELECT min(step) AS step, min(layer) AS layer FROM events WHERE kind = 'nan_in_merged'",
    )
    await expect(page.getByTestId('cause')).toHaveAttribute('data-kind', 'partial')
    await expect(page.getByTestId('cause-headline')).toHaveText(
      `First: the partial of rank 2 has no keys and was not neutral, at step ${first.step}, layer 3, request 1, query row 0.`,
    )
    await expect(page.getByTestId('cause')).toContainText('Before it the partial of rank 1')
    await page.getByTestId('cause-copy').click()
    await expect.poll(() => clipboard(app)).toContain(`step ${first.step}, rank 2: 8 bad rows`)
    await page.getByTestId('cause-merge').click()
    await expect(crumb(page, 'step')).toHaveText(String(first.step))
    await expect(crumb(page, 'rank')).toHaveText('2')
    await expect(page.getByTestId('merge-rank-2')).toContainText('NaN')
    await showView(page, 'events')
    await page.getByTestId('cause-timeline').click()
    // The span of attention on that rank and layer.
    const [span] = await query(
      bundle,
      `SELECT start_ns, step FROM spans WHERE rank = 2 AND step = ${first.step} AND layer = 3 AND stage = 'decode_attn'`,
    )
    expect(span).toBeDefined()
    await expect(page.locator('.inspector, aside').first()).toContainText('decode_attn')
    await showView(page, 'events')
    await page.getByTestId('cause-diagnose').click()
    await expect(page.getByTestId('pm-finding-empty-row-not-neutralised')).toBeVisible({ timeout: 40_000 })
  })
})

test('every kind of event says where it began and how it is spread, and leads there', async () => {
  await using(async ({ page }) => {
    for (const kind of ['nan_in_merged', 'empty_rank', 'nan_in_partial']) {
      const first = await numbers(
        bundle,
        `SELECT step, layer, coalesce(rank, -1) AS rank FROM events WHERE kind = '${kind}' ORDER BY step, layer, rank LIMIT 1`,
      )
      await page.getByTestId(`events-group-${kind}`).click()
      const spread = page.getByTestId('events-spread')
      await expect(spread).toContainText(`First at step ${first.step}`)
      await page.getByTestId('events-first').click()
      await expect(crumb(page, 'step')).toHaveText(String(first.step))
      if ((first.rank ?? -1) >= 0) await expect(crumb(page, 'rank')).toHaveText(String(first.rank))
      await page.getByTestId(`events-group-${kind}`).click()
    }
    expect(await seriousIn(page)).toEqual([])
    // Of rows of partials, by rank, as the bundle has them; a bar leaves only these.
    await page.keyboard.press('l')
    await page.getByTestId('events-group-empty_row_left').click()
    const bars = page.getByTestId('events-spread-rank').getByRole('button')
    const ranks = await query(
      bundle,
      `SELECT rank, count(*) AS n, min(step) AS first FROM rows
       WHERE "empty" AND (out_nan > 0 OR out_inf > 0 OR out_absmax > 0 OR lse_nan > 0 OR lse_max > '-inf'::FLOAT)
       GROUP BY rank ORDER BY first, n DESC`,
    )
    await expect(bars).toHaveCount(ranks.length)
    expect(await seriousIn(page)).toEqual([])
    await expect(bars.first()).toContainText(String(ranks[0]?.n))
    await bars.first().click()
    await expect.poll(() => total(page)).toBe(String(ranks[0]?.n))
  })
})

test('events are counted, listed in pages, filtered by place and steps, and picked by keys', async () => {
  await using(async ({ app, page }) => {
    const count = async (sql: string): Promise<number> =>
      (await numbers(bundle, `SELECT count(*) AS n FROM ${sql}`)).n ?? 0
    expect(await total(page)).toBe(String(await count('events')))
    await page.keyboard.press('l')
    await expect(page.getByTestId('events-level-rows')).toHaveAttribute('aria-pressed', 'true')
    const left = await count('rows WHERE "empty" AND out_nan > 0')
    await expect(page.getByTestId('events-group-empty_row_left').getByTestId('events-count')).toHaveAttribute(
      'data-value',
      String(left),
    )
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await expect(page.getByTestId('events-event')).toHaveCount(50)
    await page.keyboard.press('ArrowDown')
    await expect(crumb(page, 'step')).toHaveText('0')
    await expect(crumb(page, 'request')).toHaveText('1')
    await page.keyboard.press('PageDown')
    await expect(page.getByTestId('events-page')).toContainText('51 to 100')
    await page.getByTestId('events-copy').click()
    await expect
      .poll(async () => (await clipboard(app)).split('\n')[0])
      .toBe('step\tlayer\trank\trequest\tq_index\ttime_ns\tkind\twhat\tseverity\tmessage\tdetail')
    expect((await clipboard(app)).split('\n')).toHaveLength(51)

    // The file has all of the group, not only the page.
    const file = join(folder, 'rows.csv')
    await app.evaluate(({ dialog }, path) => {
      dialog.showSaveDialog = async () => ({ canceled: false, filePath: path })
    }, file)
    await page.getByTestId('events-csv').click()
    await expect(page.getByTestId('messages')).toContainText('Saved rows.csv.')
    const saved = readFileSync(file, 'utf8').split('\r\n')
    expect(saved[0]).toBe('step,layer,rank,request,q_index,time_ns,kind,what,severity,message,detail')
    expect(saved).toHaveLength(left + 2)

    // Filters are those of SQL over the bundle.
    await page.getByTestId('events-rank').selectOption('2')
    await page.getByTestId('events-from').fill('10')
    await page.getByTestId('events-to').fill('19')
    const some = await count('rows WHERE "empty" AND rank = 2 AND step BETWEEN 10 AND 19')
    await expect.poll(() => total(page)).toBe(String(some))
    await page.getByTestId('events-by').selectOption('step')
    await expect(page.getByTestId('events-group-10')).toContainText('step 10')
    await expect(page.locator('[data-testid^="events-group-"]')).toHaveCount(10)
    await page.getByTestId('events-clear').click()

    // A part of the strip that is dragged over leaves its steps.
    const strip = await page.getByTestId('events-density').boundingBox()
    if (strip === null) throw new Error('the strip is not there')
    await page.mouse.move(strip.x + strip.width * 0.51, strip.y + 30)
    await page.mouse.down()
    await page.mouse.move(strip.x + strip.width * 0.6, strip.y + 30, { steps: 4 })
    await page.mouse.move(strip.x + strip.width * 0.74, strip.y + 30, { steps: 4 })
    await page.mouse.up()
    await expect(page.getByTestId('events-from')).toHaveValue('30')
    await expect(page.getByTestId('events-to')).toHaveValue('44')
    await expect
      .poll(() => total(page))
      .toBe(String(await count('rows WHERE "empty" AND step BETWEEN 30 AND 44')))
    await page.keyboard.press('f')
    await page.keyboard.press('s')
    await expect(page.getByTestId('events-layer')).toHaveValue('3')
    await expect.poll(() => total(page)).toBe('1')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('m')
    await expect(page.getByTestId('merge-row')).toBeVisible()
  })
})

test('events of a run that goes on are counted while they come, and the first cause stays', async ({
  desk: { page, dataDir },
}) => {
  await waitReady(page, 'engine')
  // Off the reference in every step, without a NaN.
  const long = {
    ...SPREADING,
    workload: { requests: [{ contextLen: 300 }, { contextLen: 150 }], steps: 100_000 },
    engine: { device: 'cpu' },
    check: { rows: 'all' },
    capture: { steps: 'none' },
    faults: [{ fault: 'lse-dropped' }],
  }
  expect(await invoke(page, 'startRun', { config: long })).toMatchObject({ ok: true })
  await expect.poll(async () => (await stateOf(page)).activeRun?.phase).toBe('running')
  const { activeRun } = await stateOf(page)
  await page.reload()
  await showView(page, 'events')
  await expect(page.getByTestId('cause')).toHaveAttribute('data-kind', 'finite', { timeout: 40_000 })
  const headline = await page.getByTestId('cause-headline').textContent()
  expect(headline).toContain('at step 0, layer')
  const before = Number(await total(page))
  await expect.poll(async () => Number(await total(page)), { timeout: 40_000 }).toBeGreaterThan(before)
  expect((await stateOf(page)).activeRun).toMatchObject({ id: activeRun?.id })
  await expect(page.getByTestId('cause-headline')).toHaveText(headline ?? '')
  await invoke(page, 'stopRun', {})
  await expect.poll(async () => (await stateOf(page)).activeRun, { timeout: 40_000 }).toBeNull()
  // At its end everything is counted.
  const counted = await query(onlyBundle(dataDir), 'SELECT count(*) AS n FROM events')
  await expect.poll(() => total(page)).toBe(String(counted[0]?.n))
})

test('a run without trouble says so, a click in Run leads here, and no run offers a failure', async ({
  desk: { page },
}) => {
  await expect(async () => {
    await page.keyboard.press('6')
    await expect(page.getByTestId('events-no-run')).toBeVisible({ timeout: 1000 })
  }).toPass()
  await page.getByTestId('events-sample').click()
  await expect(page.getByTestId('scenario-empty-row-not-neutralised-nan')).toHaveAttribute(
    'aria-pressed',
    'true',
  )
  await showView(page, 'run')
  await runDefault(page)
  await page.getByTestId('run-all-events').click()
  await expect(page.getByTestId('cause')).toHaveAttribute('data-kind', /none|harmless/)
  await page.getByTestId('events-kind').selectOption('nan_in_merged')
  await expect(page.getByTestId('events-none')).toContainText('Nothing fits')
  await page.getByTestId('events-none').getByRole('button', { name: 'Show all' }).click()
  await expect(page.getByTestId('events-group-empty_rank')).toBeVisible()
})

test('a doubt about what went into the merge is settled by a run with capture', async ({
  desk: { page },
}) => {
  await waitReady(page, 'engine')
  await showView(page, 'scenarios')
  await page.getByTestId('scenario-empty-row-not-neutralised').click()
  await page.getByTestId('scenario-run').click()
  await expect(page.getByTestId('side-fixed').locator('canvas')).toBeVisible({ timeout: 40_000 })
  await page.getByTestId('scenario-open-fixed').click()
  await showView(page, 'events')
  await expect(page.getByTestId('cause-headline')).toContainText('Harmless: kernels left values')
  await showView(page, 'scenarios')
  await page.getByTestId('scenario-open-broken').click()
  await showView(page, 'events')
  await expect(page.getByTestId('cause-headline')).toContainText('The first wrong row is off the reference')
  await expect(page.getByTestId('cause')).toContainText('on ranks 1, 2 and 3, which hold no key of it')
  await expect(page.getByTestId('events-notes')).toContainText('fault empty-row-not-neutralised')
  await page.getByTestId('cause-capture').click()
  await expect(page.getByTestId('cause')).toHaveAttribute('data-kind', 'partial', { timeout: 40_000 })
  await expect(page.getByTestId('cause-headline')).toHaveText(
    'First: the partial of ranks 1, 2 and 3 has no keys and was not neutral, at step 0, layer 0, request 1, query row 0.',
  )
})

test('events are not cut off in either theme and size', async () => {
  mkdirSync(SCREENS, { recursive: true })
  await using(async ({ app, page }) => {
    const shot = async (name: string): Promise<void> => {
      const picture = await settled(page, async () => (await page.screenshot()).toString('base64'))
      writeFileSync(join(SCREENS, `${name}.png`), picture, 'base64')
    }
    for (const [width, height] of SIZES)
      for (const theme of ['dark', 'light']) {
        await resize(app, page, width, height)
        await chooseTheme(page, theme)
        await shot(`events-nan-${theme}-${width}`)
        await page.getByTestId('events-level-rows').click()
        await page.getByTestId('events-group-empty_row_left').click()
        await expect(page.getByTestId('events-event').first()).toBeVisible()
        await page.getByTestId('events-event').nth(3).click()
        await shot(`events-rows-${theme}-${width}`)
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth > innerWidth || document.querySelector(".events-body").scrollWidth > document.querySelector(".events-body").clientWidth',
        )
        expect(overflow).toBe(false)
        await page.getByTestId('events-group-empty_row_left').click()
        await page.getByTestId('events-level-events').click()
        await page.getByTestId('clear-selection').click()
      }
  })
})
