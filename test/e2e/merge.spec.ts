import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright'
import { formatFloat, formatPercent, formatSci } from '../../renderer/drawing/format.ts'
import { seriousIn } from './axe.ts'
import { bundlesOf, manifestOf, onlyBundle, runDefault, showView } from './desk.ts'
import { dropOn } from './dump.ts'
import { expect, test } from './fixture.ts'
import { mergedRow } from './tensors.ts'

const CLI = join(__dirname, '..', '..', 'dist', 'cli.js')
const run = promisify(execFile)
const RANKS = 4
const LAST_STEP = 23

/** Cells of a rank's row: rank, keys, lse, weight, norm, state. */
const cells = (page: Page, rank: number): Promise<string[]> =>
  page.getByTestId(`merge-rank-${rank}`).locator('th, td').allTextContents()

/** Waits until the view shows this row and head, and compares every number with the tensors of the bundle. */
const expectRow = async (
  page: Page,
  bundle: string,
  step: number,
  row: number,
  head: number,
): Promise<void> => {
  const want = mergedRow(bundle, step, 0, RANKS, row, head)
  await expect(page.getByTestId('merge-lse')).toHaveText(formatFloat(want.mergedLse, 4))
  await expect(page.getByTestId('merge-weight-sum')).toHaveText(formatFloat(1, 6))
  for (let rank = 0; rank < RANKS; rank++) {
    const [, , lse, weight] = await cells(page, rank)
    const value = want.lse[rank] ?? Number.NaN
    expect(lse).toBe(formatFloat(value, 4))
    expect(weight).toBe(formatFloat(want.weights[rank] ?? Number.NaN, 6))
  }
  await expect(page.getByTestId('merge-error-reference')).toHaveText(formatSci(want.againstReference))
  await expect(page.getByTestId('merge-error-recomputed')).toHaveText(formatSci(want.againstOwnMerge))
}

const setNumber = async (page: Page, testId: string, value: number): Promise<void> => {
  const field = page.getByTestId(testId)
  await field.fill(String(value))
}

test('every number of the merge view equals one recomputed from the captured tensors', async ({ desk }) => {
  const { page, dataDir } = desk
  await runDefault(page)
  await showView(page, 'merge')
  const bundle = onlyBundle(dataDir)
  await expectRow(page, bundle, LAST_STEP, 0, 0)
  await setNumber(page, 'merge-row', 2)
  await setNumber(page, 'merge-head', 13)
  await expectRow(page, bundle, LAST_STEP, 2, 13)
})

test('weights of every row and head say from which rank each comes, as the tensors have them', async ({
  desk: { page, dataDir },
}) => {
  await runDefault(page)
  await showView(page, 'merge')
  await expect(page.getByTestId('merge-map')).toBeVisible()
  await page.keyboard.press('KeyM')
  const map = page.getByTestId('merge-weights')
  await expect(map).toBeVisible()
  const note = page.getByTestId('merge-weights-note')
  const heaviestOf = (row: number, head: number): string => {
    const { weights } = mergedRow(onlyBundle(dataDir), LAST_STEP, 0, RANKS, row, head)
    const most = Math.max(...weights)
    return `row ${row}, head ${head}: most from rank ${weights.indexOf(most)}, ${formatPercent(most)}`
  }
  await expect(note).toHaveText(heaviestOf(0, 0))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  await expect(note).toHaveText(heaviestOf(1, 1))
  await map.click({ position: { x: 200, y: 30 } })
  const row = Number(await page.getByTestId('merge-row').inputValue())
  const head = Number(await page.getByTestId('merge-head').inputValue())
  await expect(note).toHaveText(heaviestOf(row, head))
  await expect(page.getByTestId('merge-mass')).toContainText('all rows and heads')
  expect(await seriousIn(page)).toEqual([])
  await page.keyboard.press('KeyM')
  await expect(page.getByTestId('merge-map')).toBeVisible()
})

test('a step that was not captured is run again with capture on one click, also with empty ranks', async ({
  desk,
}) => {
  const { page, dataDir } = desk
  await runDefault(page)
  await showView(page, 'merge')
  await expect(page.getByTestId('merge-lse')).toBeVisible()
  const first = onlyBundle(dataDir)
  await setNumber(page, 'merge-row', 3)
  await setNumber(page, 'merge-head', 5)
  await page.getByTestId('step-range').focus()
  await page.keyboard.press('Home')
  await expect(page.getByTestId('merge-missing')).toBeVisible()
  await page.getByTestId('merge-rerun').click()
  await expect.poll(() => bundlesOf(dataDir).length).toBe(2)
  // Names of runs of one second are in no order.
  const again = bundlesOf(dataDir).find((bundle) => bundle !== first) ?? ''
  await expect.poll(() => manifestOf(again).status, { timeout: 30_000 }).toBe('complete')
  expect(manifestOf(again).config.capture.steps).toContain(0)
  await showView(page, 'merge')
  // The row and head that were looked at before are still those shown. The last request of the preset has 2 tokens
  // at its first step, so two of four ranks hold none.
  await expect(page.getByTestId('merge-row')).toHaveValue('3')
  await expectRow(page, again, 0, 3, 5)
  for (const rank of [2, 3]) {
    const [, keys, lse, weight, , state] = await cells(page, rank)
    expect([keys, lse, weight, state]).toEqual(['0', '−∞', formatFloat(0, 6), 'empty'])
  }
})

test('mistakes are tried on the real partials, and the one that the engine made is named', async ({
  desk: { page },
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-what-if-'))
  try {
    await run(process.execPath, [CLI, 'run', '--scenario', 'lse-base-mismatch', '--out', folder]).catch(
      // The broken run fails its check, which is what it is for.
      ({ code }: { code: number }) => expect(code).toBe(1),
    )
    await dropOn(page, [join(folder, 'broken.dcp')])
    await showView(page, 'merge')
    await page.getByTestId('merge-part-whatIf').click()
    await expect(page.getByTestId('merge-if-base')).toContainText('what the engine gave')
    expect(await seriousIn(page)).toEqual([])
    await expect(page.getByTestId('merge-if-equal')).not.toContainText('what the engine gave')
    await dropOn(page, [join(folder, 'fixed.dcp')])
    await expect(page.getByTestId('merge-what-if')).toBeVisible()
    await expect(page.getByText('what the engine gave')).toHaveCount(0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('lse are shown in either base, and a row over every captured step', async ({ desk: { page } }) => {
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-steps-'))
  try {
    const config = join(folder, 'run.json')
    writeFileSync(
      config,
      JSON.stringify({
        model: { preset: 'tiny' },
        workload: { steps: 8 },
        capture: { steps: [1, 4, 7], layers: [0] },
      }),
    )
    const bundle = join(folder, 'run.dcp')
    await run(process.execPath, [CLI, 'run', config, '--out', bundle])
    await dropOn(page, [bundle])
    await showView(page, 'merge')
    const want = mergedRow(bundle, 7, 0, RANKS, 0, 0)
    await expect(page.getByTestId('merge-lse')).toHaveText(formatFloat(want.mergedLse, 4))
    await page.keyboard.press('b')
    await expect(page.getByTestId('merge-lse')).toHaveText(formatFloat(want.mergedLse * Math.LOG2E, 4))
    await page.keyboard.press('c')
    await page.keyboard.press('c')
    const rows = page.getByTestId('merge-steps').locator('tbody tr')
    await expect(rows).toHaveCount(3)
    expect(await seriousIn(page)).toEqual([])
    for (const [i, step] of [1, 4, 7].entries()) {
      const { mergedLse } = mergedRow(bundle, step, 0, RANKS, 0, 0)
      await expect(rows.nth(i)).toContainText(formatFloat(mergedLse * Math.LOG2E, 4))
    }
    await rows.nth(1).click()
    await expect(page.getByTestId('crumb-step')).toHaveText('step 4')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
