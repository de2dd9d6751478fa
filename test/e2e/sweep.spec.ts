import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElectronApplication, Page } from 'playwright'
import { seriousIn } from './axe.ts'
import {
  chooseTheme,
  field,
  invoke,
  manifestOf,
  numbers,
  onlyBundle,
  pidOf,
  query,
  resize,
  SIZES,
  showView,
  stateOf,
  waitReady,
} from './desk.ts'
import { expect, test } from './fixture.ts'
import { launch } from './launch.ts'

const SCREENS = join(__dirname, '..', '..', 'test-results', 'screens')

/** Few points with runs that take about a second each, so that something happens in the middle of one. */
const SLOW = {
  base: { model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 2 }, parallel: { tpSize: 2 } },
  dcp: [2],
  comm: ['a2a'],
  context: [64, 128],
  concurrency: [1],
  repeats: 2,
  steps: 2000,
}

const measured = async (page: Page): Promise<number> => {
  const progress = (await stateOf(page)).activeSweep?.progress
  return progress?.phase === 'measuring' ? progress.done : -1
}

/** Waits until the sweep has so many points while it is measured. */
const untilMeasured = (page: Page, points: number): Promise<void> =>
  expect.poll(() => measured(page), { timeout: 60_000 }).toBeGreaterThanOrEqual(points)

const ended = (page: Page, status: string): Promise<void> =>
  expect.poll(async () => (await stateOf(page)).lastSweep?.end.status, { timeout: 90_000 }).toBe(status)

/** Takes a configuration into the form and starts it. */
const startSweep = async (page: Page, config: object): Promise<void> => {
  await showView(page, 'throughput')
  await page.getByTestId('sweep-new').click()
  await page.getByTestId('import-config').click()
  await page.getByRole('textbox', { name: 'Configuration as JSON' }).fill(JSON.stringify(config))
  await page.getByRole('button', { name: 'Use it' }).click()
  await page.getByTestId('sweep-start').click()
}

/** Processes of the app whose name begins so. */
const pidsOf = (app: ElectronApplication, name: string): Promise<number[]> =>
  app.evaluate(
    ({ app: electron }, prefix) =>
      electron
        .getAppMetrics()
        .filter(({ name, serviceName }) =>
          [name, serviceName].some((one) => one?.startsWith(prefix) === true),
        )
        .map(({ pid }) => pid),
    `dcpscope-${name}`,
  )

const repeatsOf = (bundle: string): Promise<Readonly<Record<string, number>>> =>
  numbers(
    bundle,
    `SELECT count(*) AS rows, count(DISTINCT key || ' ' || repeat) AS repeats FROM points WHERE repeat >= 0`,
  )

test('a sweep is started, watched, paused, and gone on with after a restart of the app', async () => {
  test.setTimeout(240_000)
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-sweeps-'))
  const kept = { dataDir: join(folder, 'data'), userData: join(folder, 'user') }
  try {
    const first = await launch(kept)
    const { page } = first
    await waitReady(page, 'store')
    await showView(page, 'throughput')
    await page.getByTestId('sweep-small').click()
    await expect(page.getByTestId('measure-word')).toHaveText(/starting|measuring/)
    await untilMeasured(page, 2)
    // Points are in curves and map while others are still to come.
    await expect(page.locator('.map-cell[data-verdict]').first()).toBeVisible({ timeout: 30_000 })
    await expect(page.getByTestId('measure-words')).toContainText('left')
    await expect(page.getByTestId('status-sweep')).toContainText('of 30 points')
    const held = await page.getByTestId('held').inputValue()
    await expect(async () => {
      await page.keyboard.press('Space')
      await expect(page.getByTestId('measure-word')).toHaveText(/pausing|paused/, { timeout: 2000 })
    }).toPass()
    await ended(page, 'stopped')
    await expect(page.getByTestId('measure-word')).toHaveText('paused')
    await expect(page.getByTestId('messages')).toContainText('is paused')
    expect(await page.getByTestId('held').inputValue()).toBe(held)
    const bundle = onlyBundle(kept.dataDir)
    expect(manifestOf(bundle).status).toBe('stopped')
    const { rows: before } = await repeatsOf(bundle)
    expect(before).toBeGreaterThanOrEqual(6)
    await page.getByTestId('sweep-resume').click()
    await expect.poll(async () => (await repeatsOf(bundle)).rows).toBeGreaterThan(before ?? 0)
    expect((await stateOf(page)).activeSweep).not.toBeNull()
    // Closing the app is a pause.
    await first.close()
    expect(first.errors).toEqual([])
    expect(manifestOf(bundle).status).toBe('stopped')

    const second = await launch(kept)
    await waitReady(second.page, 'store')
    await second.page.getByTestId('resume-item').click()
    await ended(second.page, 'complete')
    await expect(second.page.getByTestId('measure-word')).toHaveText('complete')
    await expect(second.page.getByTestId('measure-count')).toHaveText('30 of 30 points')
    await expect(second.page.getByTestId('sweep-resume')).toHaveCount(0)
    expect(await repeatsOf(bundle)).toEqual({ rows: 90, repeats: 90 })
    expect(manifestOf(bundle).status).toBe('complete')
    await second.close()
    expect(second.errors).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})

test('the form says what a sweep would be, marks what is wrong, and starts what is right', async ({
  desk,
}) => {
  const { app, page } = desk
  await waitReady(page, 'engine')
  await expect(async () => {
    await page.keyboard.press('Control+Shift+N')
    await expect(page.getByTestId('new-sweep')).toBeVisible({ timeout: 1000 })
  }).toPass()
  const points = page.getByTestId('forecast-points')
  await expect(points).toHaveAttribute('data-value', '30')
  await field(page, 'context').fill('64, 64')
  await expect(page.getByTestId('form-issues')).toContainText('must name every value once')
  await expect(page.getByTestId('sweep-start')).toBeDisabled()
  await expect(points).toHaveCount(0)
  await field(page, 'context').fill('64, 128')
  await field(page, 'concurrency').fill('1')
  // 8 ranks are no part of 4: these points are left out with the rule.
  await field(page, 'dcp').fill('2, 8')
  await expect(points).toHaveAttribute('data-value', '6')
  await expect(page.getByTestId('forecast-left-out')).toHaveAttribute('data-value', '4')
  await expect(page.getByTestId('forecast')).toContainText('parallel.dcpSize')
  await page.getByRole('button', { name: 'a2a', exact: true }).click()
  await expect(points).toHaveAttribute('data-value', '4')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(points).toHaveAttribute('data-value', '6')
  // The copy is what the command line takes.
  await page.getByTestId('copy-sweep').click()
  const copied: unknown = JSON.parse(await app.evaluate(({ clipboard }) => clipboard.readText()))
  expect(copied).toMatchObject({ context: [64, 128], dcp: [2, 8], base: { model: { preset: 'tiny' } } })
  await page.keyboard.press('Control+Enter')
  await expect(page.getByTestId('new-sweep')).toHaveCount(0)
  await ended(page, 'complete')
  await expect(page.getByTestId('measure-count')).toHaveText('6 of 6 points')
})

test('nothing else is measured while a sweep is', async ({ desk }) => {
  const { page } = desk
  await waitReady(page, 'engine')
  await startSweep(page, { ...SLOW, repeats: 100 })
  await untilMeasured(page, 0)
  expect(await invoke(page, 'startRun', { config: {} })).toMatchObject({
    ok: false,
    message: expect.stringContaining('A sweep is being measured'),
  })
  await showView(page, 'run')
  await expect(page.getByTestId('run-start')).toBeDisabled()
  await expect(page.getByTestId('start-reason')).toContainText('A sweep is being measured')
  await page.getByTestId('status-pause').click()
  await ended(page, 'stopped')
  await expect(page.getByTestId('run-start')).toBeEnabled()
})

test('an engine that dies takes one point along, which Resume measures', async ({ desk }) => {
  const { app, page, dataDir } = desk
  await waitReady(page, 'engine')
  const own = await pidOf(page, 'engine')
  await startSweep(page, SLOW)
  await untilMeasured(page, 1)
  const [engine] = (await pidsOf(app, 'engine')).filter((pid) => pid !== own)
  if (engine === undefined) throw new Error('the sweep has no engine')
  process.kill(engine, 'SIGKILL')
  await expect
    .poll(async () => {
      const progress = (await stateOf(page)).activeSweep?.progress
      return progress?.phase === 'measuring' ? progress.failed : -1
    })
    .toBe(1)
  await ended(page, 'complete')
  await expect(page.getByTestId('measure-words')).toContainText('the engine failed in 1')
  await expect(page.getByTestId('messages')).toContainText('Resume tries again')
  expect(await pidOf(page, 'engine')).toBe(own)
  const bundle = onlyBundle(dataDir)
  const [missing] = manifestOf(bundle).sweep?.missing ?? []
  expect(missing?.why).toBe('failed')
  await page.getByTestId('sweep-resume').click()
  await expect(page.getByTestId('measure-count')).toHaveText('4 of 4 points', { timeout: 60_000 })
  await expect.poll(async () => (await stateOf(page)).lastSweep?.end.failed).toBe(0)
  expect(await repeatsOf(bundle)).toEqual({ rows: 8, repeats: 8 })
  const failed = await query(
    bundle,
    `SELECT DISTINCT key FROM points WHERE key = '${missing?.key}' AND repeat = 1`,
  )
  expect(failed).toHaveLength(1)
})

test('a sweep whose process dies keeps what it measured, and goes on from there', async ({ desk }) => {
  const { app, page, dataDir } = desk
  await waitReady(page, 'engine')
  await startSweep(page, SLOW)
  await untilMeasured(page, 2)
  const bundle = onlyBundle(dataDir)
  // Rows are on disk within a second.
  await expect.poll(async () => (await repeatsOf(bundle)).rows).toBeGreaterThanOrEqual(4)
  const [host] = await pidsOf(app, 'sweep')
  if (host === undefined) throw new Error('no process measures the sweep')
  process.kill(host, 'SIGKILL')
  await ended(page, 'interrupted')
  await expect(page.getByTestId('measure-word')).toHaveText('interrupted')
  await expect(page.getByTestId('messages')).toContainText('was interrupted')
  expect(manifestOf(bundle).status).toBe('interrupted')
  expect((await pidsOf(app, 'engine')).length).toBe(1)
  await page.getByTestId('sweep-resume').click()
  await ended(page, 'complete')
  expect(await repeatsOf(bundle)).toEqual({ rows: 8, repeats: 8 })
})

test('a crash of the app leaves a sweep that the next start goes on with', async () => {
  test.setTimeout(180_000)
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-crashed-'))
  const kept = { dataDir: join(folder, 'data'), userData: join(folder, 'user') }
  try {
    const first = await launch(kept)
    await waitReady(first.page, 'engine')
    await startSweep(first.page, SLOW)
    await untilMeasured(first.page, 1)
    const bundle = onlyBundle(kept.dataDir)
    await expect.poll(async () => (await repeatsOf(bundle)).rows).toBeGreaterThanOrEqual(2)
    const gone = new Promise((resolve) => first.app.process().once('exit', resolve))
    first.app.process().kill('SIGKILL')
    await gone

    const second = await launch(kept)
    await waitReady(second.page, 'store')
    await second.page.getByTestId('resume-item').click()
    await ended(second.page, 'complete')
    expect(await repeatsOf(bundle)).toEqual({ rows: 8, repeats: 8 })
    await second.close()
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})

test('every state of a sweep has room and can be read in both themes', async ({ desk }) => {
  test.setTimeout(180_000)
  const { app, page } = desk
  mkdirSync(SCREENS, { recursive: true })
  const found: string[] = []
  const look = async (name: string): Promise<void> => {
    for (const theme of ['light', 'dark'])
      for (const [width, height] of SIZES) {
        await resize(app, page, width, height)
        await chooseTheme(page, theme)
        await page.screenshot({ path: join(SCREENS, `sweep-${name}-${theme}-${width}.png`) })
        // Nothing is wider than the window.
        const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        expect(wider).toBeLessThanOrEqual(0)
        if (width === SIZES[0][0])
          found.push(...(await seriousIn(page)).map((sentence) => `${name}, ${theme}: ${sentence}`))
      }
  }
  await waitReady(page, 'engine')
  await showView(page, 'throughput')
  await look('none')
  await page.getByTestId('sweep-new').click()
  await expect(page.getByTestId('forecast-points')).toBeVisible()
  await look('form')
  await field(page, 'concurrency').fill('0, 4')
  await expect(page.getByTestId('form-issues')).toBeVisible()
  await look('wrong')
  await page.getByRole('button', { name: 'Close the form' }).click()
  await startSweep(page, { ...SLOW, context: [64, 128, 256], concurrency: [1, 2, 4], steps: 200, repeats: 5 })
  await untilMeasured(page, 5)
  await expect(page.locator('.map-cell[data-verdict]').first()).toBeVisible({ timeout: 30_000 })
  await look('measuring')
  await page.getByTestId('sweep-pause').click()
  await ended(page, 'stopped')
  await look('paused')
  await showView(page, 'run')
  await page.getByTestId('run-picker').click()
  await look('picker')
  expect(found).toEqual([])
})
