import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElectronApplication, Locator, Page } from 'playwright'
import type { RunConfigInput } from '../../app/run/config.ts'
import { formatNs, formatRate } from '../../renderer/drawing/format.ts'
import { query, showView, waitReady } from './desk.ts'
import { dropOn } from './dump.ts'
import { expect, test } from './fixture.ts'
import { writeGpuBundle } from './gpu-bundle.ts'
import { launch } from './launch.ts'
import { RATES_AT, writePayingSweep } from './paying-sweep.ts'
import { realRun } from './real-run.ts'

/** What a person comes for, done by what the window shows alone. */

let data = ''
test.beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'dcpscope-job-'))
})
test.afterEach(() => rmSync(data, { recursive: true, force: true }))

const clipboard = (app: ElectronApplication): Promise<string> =>
  app.evaluate(({ clipboard: board }) => board.readText())

/** Opens a bundle of the data folder from the recent runs. */
const withRun = async (
  name: string,
  look: (page: Page, app: ElectronApplication) => Promise<void>,
): Promise<void> => {
  const { app, page, close, errors } = await launch({ dataDir: data })
  try {
    await waitReady(page, 'store')
    await waitReady(page, 'engine')
    await page.getByTestId('run-item').filter({ hasText: name }).click()
    await expect(page.getByTestId('run-picker')).toContainText(name)
    await look(page, app)
    expect(errors).toEqual([])
  } finally {
    await close()
  }
}

/** Row of a section of the inspector. */
const rowOf = (page: Page, section: string, label: string): Locator =>
  page
    .getByTestId('inspector')
    .getByRole('region', { name: section })
    .locator('.inspector-row', { has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) })

const copyRow = async (row: Locator): Promise<void> => {
  await row.hover()
  await row.getByRole('button').click()
}

test('the rank that is slow is found, with the stage that made it late and what it holds', async () => {
  // Blocks of 1024 tokens: rank 0 holds all of every request.
  const bundle = await realRun(data, 'uneven', {
    model: { preset: 'tiny', layers: 2 },
    parallel: { interleave: 1024 },
    cache: { pageSize: 1024 },
    workload: { requests: [{ contextLen: 990, count: 24 }], steps: 6 },
    check: { rows: 'none' },
    capture: { steps: 'none' },
  })
  const COLLECTIVES = `SELECT step, arg_max(rank, enter_ns) AS last, sum(last_enter_ns - enter_ns) AS wait
     FROM spans WHERE collective_seq IS NOT NULL GROUP BY step, collective_seq`
  const [most] = await query(
    bundle,
    `SELECT last AS rank, sum(wait) AS caused FROM (${COLLECTIVES}) GROUP BY last ORDER BY caused DESC LIMIT 1`,
  )
  expect(most?.rank).toBe(0)
  // On a machine that also does other things any rank may be late in some step.
  const [plain] = await query(
    bundle,
    `SELECT step FROM (${COLLECTIVES}) GROUP BY step
     ORDER BY sum(wait) FILTER (WHERE last = 0) / sum(wait) DESC NULLS LAST LIMIT 1`,
  )
  await withRun('uneven', async (page, app) => {
    await showView(page, 'timeline')
    await page.getByTestId('timeline-panel-stats').click()
    await page.getByTestId('timeline-stats-rank').click()
    const caused = formatNs(Number(most?.caused))
    await expect(page.getByTestId('timeline-slowest')).toContainText(
      `Rank 0 made the others wait most: ${caused}`,
    )
    await page.getByRole('button', { name: 'made others wait' }).click()
    const first = page.getByTestId('timeline-stats').locator('tbody tr').first()
    await expect(first).toContainText(caused)

    await page.getByTestId('timeline-panel-path').click()
    await expect(page.getByTestId('timeline-longest-step')).toBeVisible()
    await page.keyboard.press('Control+F')
    await page.keyboard.type(`step ${plain?.step}`)
    await page.getByRole('option').first().click()
    await expect(page.getByTestId('crumb-step')).toHaveText(`step ${plain?.step}`)
    const verdict = page.getByTestId('timeline-verdict')
    await expect(verdict).toContainText('Rank 0 is the slowest')
    await expect(verdict).toContainText('Its decode_attn took')
    await page.getByRole('button', { name: 'Copy what was found' }).click()
    const sentence = await verdict.textContent()
    await expect.poll(() => clipboard(app)).toBe(sentence)

    await page.getByTestId('timeline-path-stages').click()
    const part = page
      .getByTestId('timeline-path')
      .locator('tbody tr')
      .filter({ hasText: /^0.*decode_attn/ })
      .first()
    await part.click()
    await expect(rowOf(page, 'Span', 'stage')).toContainText('decode_attn')
    await expect(rowOf(page, 'Span', 'rank')).toContainText('0')
    await copyRow(rowOf(page, 'Span', 'duration'))
    await expect.poll(async () => Number(await clipboard(app))).toBeGreaterThan(0)

    await showView(page, 'ownership')
    await expect(page.getByRole('complementary', { name: 'Local lengths' })).toContainText(
      'Ranks 1, 2, 3 hold no key of any request.',
    )
  })
})

test('the token that two ranks own is found with ranks, local indices, pages and slots, of a run and of a dump', async () => {
  // Two steps behind 302 tokens the newest is token 303, of rank 3.
  const bundle = await realRun(data, 'doubled', {
    model: { preset: 'tiny', layers: 1 },
    cache: { pageSize: 32, allocation: 'shuffled' },
    workload: { requests: [{ contextLen: 302 }, { contextLen: 38 }], steps: 2 },
    faults: [{ fault: 'coverage-overlap', ranks: [1] }],
  })
  const DETAIL = 'token 303 is stored on ranks 1, 3; its owner is rank 3'
  const pageOf = async (column: number): Promise<number> => {
    const [row] = await query(
      bundle,
      `SELECT arg_max(page, step) AS page FROM pages WHERE request = 0 AND "column" = ${column} AND rank = 0`,
    )
    return Number(row?.page)
  }
  const at = await pageOf(2)
  const seen = async (page: Page, app: ElectronApplication): Promise<void> => {
    await expect(page.getByTestId('ownership-light-overlap')).toHaveAttribute('data-state', 'broken')
    await page.getByTestId('ownership-light-overlap').click()
    await expect(page.getByTestId('ownership-light-detail')).toContainText(DETAIL)
    await expect(page.getByTestId('crumb-token')).toHaveText('token 303')
    const token = 'Token 303'
    await expect(rowOf(page, token, 'owner')).toContainText('rank 3')
    await expect(rowOf(page, token, 'local index')).toContainText('75')
    await expect(rowOf(page, token, 'slot')).toContainText(String(at * 32 + 11))
    await expect(rowOf(page, token, 'local length, rank 1')).toContainText('77')
    await expect(rowOf(page, token, 'local length, rank 1')).toContainText('76 by the rule')
    const copy = rowOf(page, token, 'also on rank 1, slot')
    await expect(copy).toContainText(`page ${at}, local index 76`)
    await copyRow(copy)
    await expect.poll(() => clipboard(app)).toBe(String(at * 32 + 12))
    await page.getByRole('button', { name: 'Copy what breaks it' }).click()
    await expect.poll(() => clipboard(app)).toBe(`no token twice: ${DETAIL}`)
  }
  await withRun('doubled', async (page, app) => {
    await showView(page, 'ownership')
    await seen(page, app)
    await showView(page, 'pages')
    await expect(page.getByTestId('pages-light-slots')).toHaveAttribute('data-state', 'broken')
    await page.getByTestId('pages-light-slots').click()
    await expect(page.getByTestId('pages-light-detail')).toContainText(
      `request 0 was written to slot ${at * 32 + 12}, -1 is right`,
    )
  })
  const { app, page, close, errors } = await launch()
  try {
    await dropOn(page, [join(bundle, 'tensors')])
    await expect(page.getByTestId('pm-verdict')).toHaveAttribute('data-verdict', 'faulty', {
      timeout: 40_000,
    })
    await expect(page.getByTestId('pm-finding-coverage-overlap')).toBeVisible()
    await page.getByTestId('pm-to-ownership').click()
    await expect(page.getByTestId('ownership-dump')).toHaveAttribute('aria-pressed', 'true')
    await seen(page, app)
    // The other request of the dump lies on its ranks by lengths of its own.
    await page.getByTestId('ownership-request').fill('1')
    await expect(page.getByTestId('ownership-light-overlap')).toHaveAttribute('data-state', 'broken')
    await expect(page.getByTestId('ownership-sum')).toHaveText('41')
    expect(errors).toEqual([])
  } finally {
    await close()
  }
})

test('the cause of a NaN is found from its first event over its merge to the fault that explains it', async () => {
  await realRun(data, 'spoiled', {
    model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 1 },
    engine: { emptyRow: 'nan', zeroWeight: 'multiplied' },
    workload: { requests: [{ contextLen: 300 }, { contextLen: 0 }, { contextLen: 150 }], steps: 2 },
    check: { rows: 'all' },
    faults: [{ fault: 'empty-row-not-neutralised' }],
  })
  await withRun('spoiled', async (page, app) => {
    await expect(page.getByTestId('run-max-rel-err')).toHaveText('∞')
    await page.getByRole('button', { name: 'All, and their first cause' }).click()
    await expect(page.getByTestId('cause-headline')).toContainText(
      'the partial of ranks 1, 2 and 3 has no keys and was not neutral, at step 0, layer 0, request 1, query row 0',
    )
    await page.getByTestId('cause-copy').click()
    await expect.poll(() => clipboard(app)).toContain('was not neutral')
    await page.getByTestId('cause-merge').click()
    // The first bad step was not captured, which leads on to a run in which it is.
    await page.getByTestId('merge-rerun').click()
    for (const rank of [1, 2, 3])
      await expect(page.getByTestId(`merge-rank-${rank}`)).toContainText('out is not 0 without keys', {
        timeout: 40_000,
      })
    await expect(page.getByTestId('merge-error-reference')).toHaveText('NaN')
    await expect(page.getByRole('rowheader', { name: 'this merge' }).first()).toBeVisible()
    await showView(page, 'postmortem')
    await expect(page.getByTestId('pm-verdict')).toHaveAttribute('data-verdict', 'faulty', {
      timeout: 40_000,
    })
    await expect(page.getByTestId('pm-finding-empty-row-not-neutralised')).toContainText('explains')
    await page.getByTestId('pm-copy-text').click()
    await expect.poll(() => clipboard(app)).toContain('1. empty-row-not-neutralised')
  })
})

test('the context from which DCP pays is named, with how sure that is, and copied', async () => {
  await writePayingSweep(data)
  await withRun('paying sweep', async (page, app) => {
    await showView(page, 'throughput')
    // A sweep at one concurrency is shown along its contexts at once.
    await expect(page.getByTestId('axis-context')).toHaveAttribute('aria-pressed', 'true')
    const crossing = page.getByTestId('crossing')
    await expect(crossing).toHaveCount(1)
    await expect(crossing).toContainText('dcp8 a2a')
    await expect(crossing).toContainText('4K and 16K')
    await expect(crossing.locator('td').last()).toHaveText('significant')
    await expect(page.getByTestId('crossing-mark')).toHaveCount(1)
    await expect(page.locator('.curve-band path').first()).toBeVisible()
    await expect(page.getByTestId('pays-concurrency-8')).toContainText('16K')
    await page.getByTestId('copy-crossings').click()
    await expect.poll(() => clipboard(app)).toContain('dcp8 a2a')

    const pays = RATES_AT.find(({ context }) => context === 16_384)
    await page.getByTestId('map-16384-8').click()
    await expect(page.getByTestId('cell-verdict')).toContainText('dcp pays')
    await expect(page.getByTestId('cell-table')).toContainText(formatRate(pays?.dcp ?? 0))
    await copyRow(rowOf(page, 'Point', 'throughput'))
    await expect.poll(async () => Number(await clipboard(app))).toBeCloseTo(pays?.dcp ?? 0, -1)
  })
})

test('two kernels are compared: which stage changed, by how much, whether that is more than chance, and whether numbers part', async () => {
  await writeGpuBundle(data, { name: 'portable' })
  await writeGpuBundle(data, { name: 'sm90', attention: 0.5 })
  await withRun('portable', async (page, app) => {
    await showView(page, 'run')
    await page.getByTestId('run-picker').click()
    await page.getByTestId('run-item').filter({ hasText: 'sm90' }).click()
    await showView(page, 'compare')
    await expect(page.getByTestId('compare-headlines')).toContainText('decode_attn slower (×2.000)')
    await page.getByTestId('compare-swap').click()
    await expect(page.getByTestId('compare-headlines')).toContainText('decode_attn faster (×0.500)')
    await page.getByTestId('compare-copy').click()
    await expect
      .poll(() => clipboard(app))
      .toMatch(/mean\tdecode_attn\t200000\t100000\t-100000\t.*\t0\.5\tB is faster\t0\.0/)
  })
})

test('two caches are compared on the engine here: numbers part where the types do, and the place is shown', async () => {
  const config: RunConfigInput = {
    model: { preset: 'tiny', layers: 1 },
    workload: { requests: [{ contextLen: 512, count: 2 }], steps: 8 },
  }
  await realRun(data, 'bf16 cache', config)
  await realRun(data, 'other work', { ...config, workload: { requests: [{ contextLen: 64 }], steps: 8 } })
  await realRun(data, 'fp8 cache', { ...config, cache: { kvDtype: 'fp8' } })
  await withRun('other work', async (page) => {
    for (const name of ['fp8 cache', 'bf16 cache']) {
      await page.getByTestId('run-picker').click()
      await page.getByTestId('run-item').filter({ hasText: name }).click()
      await expect(page.getByTestId('run-picker')).toContainText(name)
    }
    await showView(page, 'compare')
    // Of what is open it is compared with what is most like it, not with what was opened first.
    await expect(page.getByTestId('compare-b').locator('option:checked')).toHaveText('fp8 cache')
    await expect(page.getByTestId('compare-headlines')).toContainText('1 difference')
    await expect(page.getByTestId('compare-headlines')).toContainText('numbers diverge')
    await page.getByRole('button', { name: 'Go there' }).click()
    await expect(page.getByTestId('crumb-step')).toBeVisible()
  })
})
