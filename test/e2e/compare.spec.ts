import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElectronApplication, Page } from 'playwright'
import { Store } from '../../main/store/store.ts'
import { type ComparedRun, noise, writeComparedRun } from '../unit/store/compared-run.ts'
import { seriousIn } from './axe.ts'
import { chooseTheme, numbers, resize, SIZES, settled, showView, stateOf, waitReady } from './desk.ts'
import { dropOn, writeDump } from './dump.ts'
import { expect, test } from './fixture.ts'
import { launch } from './launch.ts'

const SCREENS = join(__dirname, '..', '..', 'test-results', 'screens')

let folder = ''
test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-compare-'))
})
test.afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Writes runs with numbers of the test; their bundles. */
const write = async (...runs: readonly ComparedRun[]): Promise<string[]> => {
  const store = new Store()
  const bundles = runs.map(({ name }) => join(folder, `${name}.dcp`))
  for (const [i, run] of runs.entries()) await writeComparedRun(store, bundles[i] ?? '', run)
  await store.close()
  return bundles
}

/** Attention of a kernel that needs 20 µs more on rank 1, and whose lse goes wrong from step 7 on. */
const KERNELS: readonly ComparedRun[] = [
  { name: 'kernel one', attention: (step, rank) => 50_000 + 1000 * noise(step * 2 + rank) },
  {
    name: 'kernel two',
    config: { engine: { emptyRow: 'plusInf' } },
    attention: (step, rank) => 50_000 + 1000 * noise(500 + step * 2 + rank) + (rank === 1 ? 20_000 : 0),
    lse: (step, layer, rank, request) => (step >= 7 && layer === 1 && rank === 1 && request === 2 ? 4 : 3),
    error: (step) => (step >= 7 ? 0.2 : 1e-3),
  },
]

const clipboard = (app: ElectronApplication): Promise<string> =>
  app.evaluate(({ clipboard: board }) => board.readText())

const verdictOf = (page: Page, row: string): Promise<string | null> =>
  page.getByTestId(`compare-${row}`).getAttribute('data-verdict')

test('compare two kernels: which stage of which rank changed, and where their numbers diverge first', async ({
  desk: { app, page },
}) => {
  const [one = '', two = ''] = await write(...KERNELS)
  await dropOn(page, [one, two])
  await page.keyboard.press('Control+Shift+C')
  await expect(page.getByTestId('compare-a')).toContainText('kernel one')

  // What differs of the configuration comes first.
  await expect(page.getByTestId('compare-differences').getByRole('row')).toHaveCount(2)
  await expect(page.getByTestId('compare-differences')).toContainText('engine.emptyRow')
  await expect(page.getByTestId('compare-headlines')).toContainText('decode_attn slower')
  await expect(page.getByTestId('compare-headlines')).toContainText('numbers diverge')

  // Only attention changed, and only on rank 1; medians are those of the bundle.
  await expect(page.getByTestId('compare-stage-decode_attn')).toHaveAttribute('data-verdict', 'slower')
  expect(await verdictOf(page, 'stage-kv_append')).toBe('even')
  expect(await verdictOf(page, 'stage-lse_all_gather')).toBe('even')
  await page.getByTestId('compare-stage-decode_attn').click()
  expect(await verdictOf(page, 'rank-0')).toBe('even')
  expect(await verdictOf(page, 'rank-1')).toBe('slower')
  const { us } = await numbers(
    two,
    `SELECT median(t) / 1000 AS us FROM (SELECT sum(dur_ns) AS t FROM spans
     WHERE stage = 'decode_attn' AND rank = 1 GROUP BY step)`,
  )
  await expect(page.getByTestId('compare-rank-1')).toContainText(`${us?.toFixed(1)}`)

  // By keys along the stages, the steps, and to the table of the picture.
  await page.getByTestId('compare-steps-picture').click({ position: { x: 2, y: 20 } })
  await expect(page.getByTestId('crumb-step')).toHaveText('step 0')
  await page.keyboard.press('ArrowRight')
  await expect(page.getByTestId('crumb-step')).toHaveText('step 1')
  await page.keyboard.press('t')
  await expect(page.getByTestId('compare-steps').getByRole('row')).toHaveCount(25)
  await page.keyboard.press('ArrowUp')
  await expect(page.getByTestId('compare-stage-kv_append').locator('button')).toHaveAttribute(
    'aria-pressed',
    'true',
  )
  await page.keyboard.press('t')

  // Swapped, B is the faster one.
  await page.keyboard.press('x')
  await expect(page.getByTestId('compare-stage-decode_attn')).toHaveAttribute('data-verdict', 'faster')
  await page.keyboard.press('x')
  await expect(page.getByTestId('compare-stage-decode_attn')).toHaveAttribute('data-verdict', 'slower')

  // Copied whole, and to the first divergence.
  await page.getByTestId('compare-copy').click()
  await expect.poll(() => clipboard(app)).toContain('differs\tengine.emptyRow: neutral in A, plusInf in B')
  expect(await clipboard(app)).toMatch(/1\tdecode_attn\t\d+\t\d+\t.*\tB is slower\t/)
  await expect(page.getByTestId('compare-first')).toContainText(
    'lse at step 7, layer 1, request 2, query 0, rank 1: 3 in A, 4 in B',
  )
  await expect(page.getByTestId('compare-rows')).toContainText('failed in 17 steps, first in step 7')
  await page.keyboard.press('f')
  for (const [part, text] of Object.entries({
    step: 'step 7',
    layer: 'layer 1',
    rank: 'rank 1',
    request: 'request 2',
  }))
    await expect(page.getByTestId(`crumb-${part}`)).toHaveText(text)
})

test('with nothing open the view makes two runs to compare, which are the same but for their transport', async ({
  desk: { page },
}) => {
  await waitReady(page, 'engine')
  await showView(page, 'compare')
  await expect(page.getByTestId('compare-nothing')).toBeVisible()
  await page.getByTestId('compare-sample').click()
  await expect(page.getByTestId('compare-differences')).toContainText('parallel.comm', { timeout: 60_000 })
  expect((await stateOf(page)).lastRun?.status).toBe('complete')
  await expect(page.getByTestId('compare-headlines')).toContainText('numbers the same but for rounding')
  await expect(page.getByTestId('compare-tensors').getByRole('row', { name: /^merged/ })).toContainText('0')
  await expect(page.getByTestId('compare-stage-out_all_to_all')).toHaveAttribute('data-verdict', 'b-only')
  await expect(page.getByTestId('compare-stage-out_reduce_scatter')).toHaveAttribute('data-verdict', 'a-only')
})

test('two dumps are compared down to the head and value', async ({ desk: { page } }) => {
  const [one, two] = [join(folder, 'one'), join(folder, 'two')]
  writeDump(one)
  writeDump(two, 7, 2, (rank, tensors) => ({
    ...tensors,
    lse: {
      shape: tensors.lse?.shape ?? [],
      values: tensors.lse?.values?.map((lse, i) => (rank === 2 && i === 3 * 8 + 5 ? lse + 0.5 : lse)),
    },
  }))
  await dropOn(page, [one])
  await expect(page.getByTestId('pm-source')).toContainText('one')
  await dropOn(page, [two])
  await expect(page.getByTestId('pm-source')).toContainText('two')
  await showView(page, 'compare')
  await expect(page.getByTestId('compare-first')).toContainText(
    'lse at step 7, layer 2, row 3 (request 3, query 0), head 5, rank 2',
  )
  await expect(page.getByTestId('compare-tensors')).toBeVisible()
  await page.getByTestId('compare-go').click()
  await expect(page.getByTestId('pm-step')).toHaveValue('7')
  await expect(page.getByTestId('crumb-head')).toHaveText('head 5')
})

test('one run alone asks what to compare it with, and the next that is opened is it', async ({
  desk: { page },
}) => {
  const [one = '', two = ''] = await write(...KERNELS)
  await dropOn(page, [one])
  await showView(page, 'compare')
  await expect(page.getByTestId('compare-nothing')).toContainText('kernel one is open')
  await dropOn(page, [two])
  await expect(page.getByTestId('compare-b')).toHaveValue(/./)
  await expect(page.getByTestId('compare-headlines')).toContainText('decode_attn faster')
})

/** Axe finds nothing serious in the view as it is, with the table in place of the picture, and in the list of what is open. */
const looked = async (page: Page): Promise<void> => {
  expect(await seriousIn(page)).toEqual([])
  await page.keyboard.press('t')
  expect(await seriousIn(page)).toEqual([])
  await page.keyboard.press('t')
  await page.getByTestId('run-picker').click()
  expect(await seriousIn(page)).toEqual([])
  await page.keyboard.press('Escape')
}

test('nothing is cut off in either theme and size', async () => {
  test.slow()
  const bundles = await write(...KERNELS)
  mkdirSync(SCREENS, { recursive: true })
  const { app, page, close } = await launch({ args: bundles })
  try {
    for (const [width, height] of SIZES) {
      await resize(app, page, width, height)
      for (const theme of ['dark', 'light']) {
        await chooseTheme(page, theme)
        await showView(page, 'compare')
        await page.getByTestId('compare-stage-decode_attn').click()
        await settled(page, async () => (await page.screenshot()).toString('base64'))
        await page.screenshot({ path: join(SCREENS, `compare-full-${theme}-${width}.png`) })
        if (width === 1280) await looked(page)
        await page.getByTestId('compare-steps-picture').scrollIntoViewIfNeeded()
        await page.screenshot({ path: join(SCREENS, `compare-full-lower-${theme}-${width}.png`) })
        expect(
          await page.evaluate(
            'document.documentElement.scrollWidth > innerWidth || document.querySelector(".compare-body").scrollWidth > document.querySelector(".compare-body").clientWidth',
          ),
        ).toBe(false)
      }
    }
  } finally {
    await close()
  }
})
