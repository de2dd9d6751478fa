import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ElectronApplication, Page } from 'playwright'
import { diagnosisSchema } from '../../app/diagnosis/result.ts'
import { chooseTheme, resize, runDefault, SIZES, settled, showView } from './desk.ts'
import { dropOn, writeDump } from './dump.ts'
import { expect, test } from './fixture.ts'

const ROOT = join(__dirname, '..', '..')
const SCREENS = join(ROOT, 'test-results', 'screens')
const run = promisify(execFile)

let folder = ''
test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-findings-'))
})
test.afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Tensors of a small run with these faults. */
const dumpOf = async (name: string, faults: readonly object[]): Promise<string> => {
  const config = join(folder, `${name}.json`)
  writeFileSync(
    config,
    JSON.stringify({
      model: { preset: 'tiny', layers: 1 },
      workload: { requests: [{ contextLen: 2 }, { contextLen: 300 }, { contextLen: 800 }], steps: 2 },
      capture: { steps: [1], layers: [0] },
      faults,
    }),
  )
  const out = join(folder, `${name}.dcp`)
  await run(process.execPath, [join(ROOT, 'dist', 'cli.js'), 'run', config, '--out', out]).catch(
    // The check of a broken run fails.
    (error: { code?: number }) => expect(error.code).toBe(1),
  )
  return join(out, 'tensors')
}

const clipboard = (app: ElectronApplication): Promise<string> =>
  app.evaluate(({ clipboard: board }) => board.readText())

const verdict = (page: Page) => page.getByTestId('pm-verdict')

test('the cause of a bad output is named with its evidence, and leads to its tensors', async ({
  desk: { app, page },
}) => {
  const dump = await dumpOf('base', [{ fault: 'lse-base-mismatch', ranks: 'all' }])
  await dropOn(page, [dump])
  await expect(verdict(page)).toHaveAttribute('data-verdict', 'faulty', { timeout: 40_000 })
  const finding = page.getByTestId('pm-finding-lse-base-mismatch')
  await expect(finding).toContainText('explains')
  await expect(finding.locator('.pm-numbers tbody tr').first()).toBeVisible()
  await expect(finding).toContainText('Record next')
  await page.getByTestId('pm-copy-json').click()
  const copied = async () => diagnosisSchema.safeParse(JSON.parse((await clipboard(app)) || 'null')).data
  await expect.poll(async () => (await copied())?.findings[0]?.fault).toBe('lse-base-mismatch')
  const where = (await copied())?.findings[0]
  await page.getByTestId('pm-copy-text').click()
  await expect.poll(() => clipboard(app)).toContain('1. lse-base-mismatch')
  await finding.getByTestId('pm-look').click()
  await expect(page.getByTestId('pm-maps')).toBeVisible()
  await expect(page.getByTestId('crumb-step')).toContainText(String(where?.steps[0]))
  await expect(page.getByTestId('pm-cell')).toContainText(`row ${where?.rows[0] ?? 0} `)
  // Back by keys.
  await page.getByTestId('pm-tab-tensors').focus()
  await page.keyboard.press('ArrowLeft')
  await expect(page.getByTestId('pm-tab-findings')).toBeFocused()
  await expect(page.getByTestId('pm-tab-findings')).toHaveAttribute('aria-selected', 'true')
  await page.getByTestId('pm-all-rows').click()
  await expect(page.getByTestId('pm-findings')).toContainText('all rows were looked at', { timeout: 40_000 })
  // The same failure on the engine here, and the back-end that it was seen on.
  await finding.getByTestId('pm-scenario').click()
  await expect(page.getByTestId('scenario-lse-base-mismatch')).toHaveAttribute('aria-pressed', 'true')
  await page.getByTestId('scenario-backend').click()
  await expect(page.getByTestId('inspector')).toContainText('sglang-trtllm-mla')
})

test('a healthy run is said to be', async ({ desk: { page } }) => {
  await runDefault(page)
  await showView(page, 'postmortem')
  await expect(verdict(page)).toHaveAttribute('data-verdict', 'healthy', { timeout: 40_000 })
  // Nothing in a dump without chosen keys says that attention was dense.
  await expect(page.getByTestId('pm-findings')).toContainText('2 known failures could not be looked for')
  await expect(page.getByTestId('pm-not-checked')).toContainText('topk-sentinel-owned')
})

test('what decides nothing says what to record, and a diagnosis can be cancelled', async ({
  desk: { page },
}) => {
  writeDump(join(folder, 'dump'))
  await dropOn(page, [join(folder, 'dump')])
  await expect(page.getByTestId('pm-findings')).toBeVisible({ timeout: 40_000 })
  await expect(page.getByTestId('pm-not-checked')).toContainText('needs')
  await page.getByRole('button', { name: 'Diagnose again' }).click()
  // A small dump may be done before anybody can cancel.
  const cancel = page.getByTestId('pm-cancel')
  await cancel.click({ timeout: 2000 }).catch(() => {})
  await expect(page.getByTestId('pm-findings').or(page.getByTestId('pm-no-diagnosis'))).toBeVisible()
})

test('every place of a finding leads to its tensors', async ({ desk: { page } }) => {
  await dropOn(page, [await dumpOf('gap', [{ fault: 'coverage-gap', ranks: [1] }])])
  await expect(verdict(page)).toHaveAttribute('data-verdict', 'faulty', { timeout: 40_000 })
  const places = page.getByTestId('pm-finding-coverage-gap').locator('[data-testid^="pm-look-row-"]')
  await expect(places.nth(1)).toBeVisible()
  const rows = (await places.allTextContents()).map(Number)
  for (const row of [rows.at(-1), rows[0]]) {
    await page.getByTestId('pm-finding-coverage-gap').getByTestId(`pm-look-row-${row}`).click()
    await expect(page.getByTestId('pm-cell')).toContainText(`row ${row} `)
    await page.getByTestId('pm-tab-findings').click()
  }
})

test('findings are not cut off in either theme and size', async ({ desk: { app, page } }) => {
  mkdirSync(SCREENS, { recursive: true })
  await dropOn(page, [await dumpOf('base', [{ fault: 'coverage-gap', ranks: [1] }])])
  await expect(verdict(page)).toBeVisible({ timeout: 40_000 })
  for (const [width, height] of SIZES)
    for (const theme of ['dark', 'light']) {
      await resize(app, page, width, height)
      await chooseTheme(page, theme)
      const picture = await settled(page, async () => (await page.screenshot()).toString('base64'))
      writeFileSync(join(SCREENS, `findings-${theme}-${width}.png`), picture, 'base64')
      const cut = await page
        .locator('.pm-verdict, .pm-finding, .pm-worth, .pm-numbers, .pm-findings')
        .evaluateAll((all) =>
          all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.className),
        )
      expect(cut, `${width} ${theme}`).toEqual([])
    }
})
