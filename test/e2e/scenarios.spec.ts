import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ElectronApplication, Page } from 'playwright'
import { SCENARIOS, scenarioNamed } from '../../app/scenarios/index.ts'
import { bundlesOf, chooseTheme, manifestOf, resize, SIZES, settled, showView, waitReady } from './desk.ts'
import { expect, test } from './fixture.ts'

const SCREENS = join(__dirname, '..', '..', 'test-results', 'screens')

const clipboard = (app: ElectronApplication): Promise<string> =>
  app.evaluate(({ clipboard: board }) => board.readText())

const run = async (page: Page, name: string): Promise<void> => {
  await waitReady(page, 'engine')
  await page.getByTestId(`scenario-${name}`).click()
  await page.getByTestId('scenario-run').click()
  await expect(page.getByTestId('side-fixed').locator('canvas')).toBeVisible({ timeout: 40_000 })
}

test('a known failure runs broken and fixed side by side, and is diagnosed from there', async ({
  desk: { page, dataDir },
}) => {
  await showView(page, 'scenarios')
  for (const { name } of SCENARIOS) await expect(page.getByTestId(`scenario-${name}`)).toHaveCount(1)
  await run(page, 'lse-base-mismatch')
  const manifests = bundlesOf(dataDir).map(manifestOf)
  expect(manifests.map(({ name }) => name).sort()).toEqual([
    'lse-base-mismatch (broken)',
    'lse-base-mismatch (fixed)',
  ])
  const errorOf = (side: string): number | null | undefined =>
    manifests.find(({ name }) => name.includes(side))?.summary?.check.maxRelErr
  expect(errorOf('broken')).toBeGreaterThan(10 * (errorOf('fixed') ?? Number.NaN))
  for (const side of ['broken', 'fixed'])
    await expect(page.getByTestId(`side-${side}`).getByTestId('side-error')).toHaveText(/e/)
  await expect(page.getByTestId('side-broken').locator('tbody tr')).toHaveCount(4)
  await page.getByTestId('scenario-open-broken').click()
  await expect(page.getByTestId('pm-verdict')).toHaveAttribute('data-verdict', 'faulty', { timeout: 40_000 })
  await expect(page.getByTestId(`pm-finding-${scenarioNamed('lse-base-mismatch')?.diagnosis}`)).toBeVisible()
  // What the run found worth a look leads to its tensors.
  await showView(page, 'run')
  await page.getByTestId('run-events').getByRole('button', { name: 'Tensors' }).first().click()
  await expect(page.getByTestId('pm-maps')).toBeVisible()
  await expect(page.getByTestId('crumb-step')).toBeVisible()
  await showView(page, 'scenarios')
  await page.getByTestId('scenario-open-fixed').click()
  await expect(page.getByTestId('pm-verdict')).toHaveAttribute('data-verdict', 'healthy', { timeout: 40_000 })
})

test('keys move through the gallery, filter it and run', async ({ desk: { app, page, dataDir } }) => {
  await waitReady(page, 'engine')
  await showView(page, 'scenarios')
  await expect(page.getByTestId('scenario-filter')).toBeVisible()
  await page.keyboard.press('ArrowDown')
  await expect(page.getByTestId(`scenario-${SCENARIOS[1]?.name}`)).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('/')
  await page.keyboard.type('coverage-gap-rank')
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('scenario-coverage-gap-rank')).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('r')
  await expect.poll(() => bundlesOf(dataDir).length, { timeout: 30_000 }).toBe(2)
  await expect(page.getByTestId('side-fixed').locator('canvas')).toBeVisible({ timeout: 30_000 })
  await expect(page.getByTestId('scenario-vectors')).toBeVisible()
  await page.getByRole('button', { name: 'Copy the source' }).click({ force: true })
  await expect.poll(() => clipboard(app)).toMatch(/^https:\/\/github\.com\//)
  await page.keyboard.press('/')
  await page.keyboard.type(' nothing-like-it')
  await page.getByRole('button', { name: 'Show all' }).click()
  await expect(page.getByTestId(`scenario-${SCENARIOS[0]?.name}`)).toBeVisible()
})

test('scenarios are not cut off in either theme and size', async ({ desk: { app, page } }) => {
  mkdirSync(SCREENS, { recursive: true })
  await showView(page, 'scenarios')
  const shot = async (name: string): Promise<void> => {
    const picture = await settled(page, async () => (await page.screenshot()).toString('base64'))
    writeFileSync(join(SCREENS, `${name}.png`), picture, 'base64')
  }
  await shot('scenarios-empty')
  await run(page, 'causal-end-aligned')
  for (const [width, height] of SIZES)
    for (const theme of ['dark', 'light']) {
      await resize(app, page, width, height)
      await chooseTheme(page, theme)
      await shot(`scenarios-${theme}-${width}`)
      const cut = await page
        .locator(
          '.scenario-detail, .scenario-side, .scenario-partials, .scenario-item-title, .scenario-facts',
        )
        .evaluateAll((all) =>
          all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.className),
        )
      expect(cut, `${width} ${theme}`).toEqual([])
    }
})
