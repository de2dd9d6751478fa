import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'
import type { Locator } from 'playwright'
import { formatInt, formatPercent, formatRate, formatSci, formatUs } from '../../renderer/drawing/format.ts'
import { STEPS_EDGE } from '../../renderer/views/run/draw-steps.ts'
import {
  bundlesOf,
  field,
  invoke,
  manifestOf,
  numbers,
  onlyBundle,
  query,
  runDefault,
  stateOf,
  waitReady,
} from './desk.ts'
import { expect, test } from './fixture.ts'

const SCREENS = join(__dirname, '..', '..', 'test-results', 'screens')

const exact = async (figure: Locator): Promise<number> => Number(await figure.getAttribute('data-value'))

const STEP_TOTALS = `SELECT count(*) AS steps, sum(tokens) / (sum(wall_ns) / 1e9) AS rate,
  max(max_rel_err) AS rel, sum(checked_rows) AS checked FROM steps`

const STAGE_TIMES = `SELECT stage, quantile_cont(dur_ns, 0.5) / 1e3 AS p50, quantile_cont(dur_ns, 0.95) / 1e3 AS p95,
  sum(dur_ns) / (SELECT sum(dur_ns) FROM spans) AS share FROM spans GROUP BY stage`

test('a run that the mouse starts is seen to finish, and every number of it is that of the bundle', async ({
  desk: { page, dataDir },
}) => {
  await waitReady(page, 'engine')
  await page.getByTestId('run-start-default').click()
  await expect(page.getByTestId('run-status')).toHaveText('complete', { timeout: 30_000 })
  const bundle = onlyBundle(dataDir)
  const { status, summary } = manifestOf(bundle)
  expect({ status, ok: summary?.check.ok, dropped: summary?.dropped }).toEqual({
    status: 'complete',
    ok: true,
    dropped: 0,
  })

  const { steps = NaN, rate = NaN, rel = NaN, checked = NaN } = await numbers(bundle, STEP_TOTALS)
  await expect(page.getByTestId('run-checked-rows')).toHaveText(formatInt(checked))
  await expect(page.getByTestId('run-steps')).toHaveText(formatInt(steps))
  await expect(page.getByTestId('run-max-rel-err')).toHaveText(formatSci(rel))
  await expect(page.getByTestId('run-tokens-per-s')).toHaveText(formatRate(rate))
  expect(await exact(page.getByTestId('run-max-rel-err'))).toBe(rel)
  expect((await exact(page.getByTestId('run-tokens-per-s'))) / rate).toBeCloseTo(1, 9)
  expect(steps).toBe(24)
  expect(rel).toBeGreaterThan(0)
  expect(rel).toBeLessThan(1e-2)

  const stages = await query(bundle, STAGE_TIMES)
  const rows = page.getByTestId('stage-table').locator('tbody tr')
  await expect(rows).toHaveCount(stages.length)
  for (const { stage, p50, p95, share } of stages) {
    const cells = rows.filter({ hasText: String(stage) }).locator('th, td')
    const texts = await cells.allTextContents()
    expect(texts.slice(0, 4)).toEqual([
      stage,
      formatUs(Number(p50)),
      formatUs(Number(p95)),
      formatPercent(Number(share)),
    ])
  }
})

test('the inspector has the numbers of a selected step, as the bundle has them', async ({
  desk: { page, dataDir },
}) => {
  await runDefault(page)
  await page.getByTestId('step-range').focus()
  await page.keyboard.press('Home')
  const [row] = await query(
    onlyBundle(dataDir),
    'SELECT tokens_per_s AS rate, max_rel_err AS rel FROM steps WHERE step = 0',
  )
  const step = page.getByTestId('inspector').getByRole('region', { name: 'Step' })
  await expect(step.getByText(formatRate(Number(row?.rate)), { exact: true })).toBeVisible()
  await expect(step.getByText(formatSci(Number(row?.rel)), { exact: true })).toBeVisible()
  // The scrubber has the focus, and the keys of the window work all the same.
  await page.keyboard.press('2')
  await expect(page.getByTestId('timeline-canvas')).toBeVisible()
})

test('the chart of the steps says the numbers of the step under the pointer, and a click selects it', async ({
  desk: { page, dataDir },
}) => {
  await runDefault(page)
  const steps = await query(onlyBundle(dataDir), 'SELECT step, tokens_per_s AS rate FROM steps ORDER BY step')
  const last = Number(steps.at(-1)?.step)
  const chart = page.getByTestId('run-steps-chart')
  await expect(chart).toHaveAttribute('aria-label', new RegExp(`: 0 to ${last}, `))
  const { width, height } = (await chart.boundingBox()) ?? { width: 0, height: 0 }
  const card = page.getByTestId('run-step-card')
  for (const [x, step] of [
    [STEPS_EDGE.left + 1, 0],
    [width - STEPS_EDGE.right - 1, last],
  ] as const) {
    await chart.hover({ position: { x, y: height / 2 } })
    await expect(card).toContainText(`step ${step}`)
    await expect(card).toContainText(`${formatRate(Number(steps[step]?.rate))} tokens/s`)
    await chart.click({ position: { x, y: height / 2 } })
    await expect(page.getByTestId('crumb-step')).toHaveText(`step ${step}`)
  }
  await page.screenshot({ path: join(SCREENS, 'run-steps.png') })
  await page.mouse.move(1, 1)
  await expect(card).toHaveCount(0)
})

test('Enter alone runs the default run', async ({ desk: { page } }) => {
  await waitReady(page, 'engine')
  await expect(page.getByTestId('run-start-default')).toBeEnabled()
  // A display without a window manager loses keys until the new window has the focus. Nothing but Enter is pressed.
  await expect(async () => {
    await page.keyboard.press('Enter')
    await expect(page.getByTestId('run-status')).toBeVisible({ timeout: 3000 })
  }).toPass()
  await expect(page.getByTestId('run-status')).toHaveText('complete', { timeout: 30_000 })
  expect((await stateOf(page)).lastRun?.status).toBe('complete')
})

test('a run can be paused, resumed and stopped, and its bundle says stopped', async ({
  desk: { page, dataDir },
}) => {
  await waitReady(page, 'engine')
  await field(page, 'workload.steps').fill('20000')
  await page.getByTestId('run-start').click()
  await expect(page.getByTestId('run-status')).toHaveText('running')
  await page.getByTestId('run-pause').click()
  await expect(page.getByTestId('run-status')).toHaveText('paused')
  await page.getByTestId('run-pause').click()
  await expect(page.getByTestId('run-status')).toHaveText('running')
  await page.getByTestId('run-stop').click()
  await expect(page.getByTestId('run-status')).toHaveText('stopped')
  const bundle = onlyBundle(dataDir)
  expect(manifestOf(bundle).status).toBe('stopped')
  const { steps = NaN } = await numbers(bundle, STEP_TOTALS)
  await expect(page.getByTestId('run-steps')).toHaveText(formatInt(steps))
  expect(steps).toBeLessThan(20_000)
})

test('the history of runs is filtered, and a run of it compared with the newest', async ({ desk }) => {
  const { page, dataDir } = desk
  await runDefault(page)
  await expect(page.getByTestId('machine')).toContainText('CPU with')
  await page.getByTestId('machine').locator('summary').click()
  await expect(page.getByTestId('machine-no-gpu')).toContainText('No GPU')
  const [first = ''] = bundlesOf(dataDir)
  for (let i = 0; i < 5; i++) {
    const copy = join(first, '..', `copy-${i}.dcp`)
    cpSync(first, copy, { recursive: true })
    const manifest: unknown = JSON.parse(readFileSync(join(copy, 'run.json'), 'utf8'))
    writeFileSync(
      join(copy, 'run.json'),
      JSON.stringify(
        Object.assign(Object(manifest), { name: `copy ${i}`, createdAt: `2020-01-0${i + 1}T00:00:00.000Z` }),
      ),
    )
  }
  await page.getByTestId('run-picker').click()
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('button', { name: 'New run' }).click()
  const items = page.locator('.run-recent').getByTestId('run-item')
  await expect(items).toHaveCount(5)
  await expect(items.first()).toContainText('tokens/s')
  await page.getByTestId('history-filter').fill('copy 2')
  await expect(items).toHaveCount(1)
  await page.getByTestId('history-compare').click()
  await expect(page.getByTestId('compare-a')).toContainText('copy 2')
  await expect(page.getByTestId('compare-headlines')).toContainText('same configuration and place')
  await expect(page.getByTestId('compare-headlines')).toContainText('no time changed significantly')
})

test('a run whose pool takes more than 2 GiB on a rank starts in the window', async ({ desk: { page } }) => {
  test.skip(freemem() < 8 * 2 ** 30, 'needs 8 GiB of free memory')
  await waitReady(page, 'engine')
  const config = {
    model: { layers: 1 },
    parallel: { tpSize: 2, dcpSize: 2 },
    workload: { requests: [{ contextLen: 10, count: 4 }], steps: 1_000_000 },
  }
  const prediction = await invoke(page, 'predictMemory', { config })
  const pages = prediction.ok
    ? prediction.prediction?.components.find(({ name }) => name === 'kv_pages')
    : undefined
  expect(pages?.bytes).toBeGreaterThan(2 * 2 * 2 ** 30)
  expect(await invoke(page, 'startRun', { config })).toMatchObject({ ok: true })
  await expect.poll(async () => (await stateOf(page)).activeRun?.phase, { timeout: 30_000 }).toBe('running')
  expect(await invoke(page, 'stopRun', {})).toMatchObject({ ok: true })
  await expect.poll(async () => (await stateOf(page)).lastRun?.status, { timeout: 30_000 }).toBe('stopped')
  expect((await stateOf(page)).engine.status).toBe('ready')
})
