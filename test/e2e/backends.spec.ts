import type { ElectronApplication, Page } from 'playwright'
import { BACKEND_NAMES } from '../../app/backends/index.ts'
import { chooseTheme, field, resize, SIZES, showView } from './desk.ts'
import { expect, test } from './fixture.ts'

const clipboard = (app: ElectronApplication): Promise<string> =>
  app.evaluate(({ clipboard: board }) => board.readText())

const section = (page: Page) => page.getByTestId('inspector').getByRole('region', { name: 'Back-end' })

const picked = (page: Page) => page.locator('.matrix-picked .matrix-cell')

test('the matrix has the verdict of every back-end, with rule, reason and source in the inspector', async ({
  desk: { app, page },
}) => {
  await showView(page, 'backends')
  for (const name of BACKEND_NAMES) await expect(page.getByTestId(`column-${name}`)).toBeVisible()
  const refused = page.getByTestId('cell-q-2-sglang-trtllm-mla')
  await expect(refused).toHaveAttribute('data-verdict', 'refused')
  await expect(page.getByTestId('cell-no-dcp-sglang-trtllm-mla')).toHaveAttribute('data-verdict', 'accepted')
  await expect(page.getByTestId('cell-xqa-vllm-flashinfer-gqa')).toHaveAttribute('data-verdict', 'fallback')

  await refused.click()
  for (const text of [
    'q-len',
    'global causal bound',
    'cutedsl_mla or tokenspeed_mla',
    'sgl-project/sglang#33926',
  ])
    await expect(section(page)).toContainText(text)
  await expect(page.getByTestId('backends-summary')).toContainText('refused (q-len)')
  await section(page).getByRole('button', { name: 'Copy source' }).click({ force: true })
  await expect.poll(() => clipboard(app)).toBe('https://github.com/sgl-project/sglang/issues/33926')

  await page.getByTestId('cell-xqa-vllm-flashinfer-gqa').click()
  await expect(section(page)).toContainText('the speed of XQA')

  // A back-end as a whole, and a feature as a whole.
  await page.getByTestId('column-vllm-triton-mla').click()
  await expect(section(page)).toContainText('up to 3.2% error of a weight')
  await page.getByTestId('line-comm-a2a').click()
  await expect(section(page)).toContainText('refused (transport)')
})

test('keys move, filter, copy and take a configuration to Run', async ({ desk: { app, page } }) => {
  await expect(page.getByTestId('view-backends')).toBeVisible()
  // A display without a window manager loses keys until the new window has the focus.
  await expect(async () => {
    await page.keyboard.press('8')
    await expect(page.getByTestId('matrix')).toBeVisible({ timeout: 1000 })
  }).toPass()
  await page.keyboard.press('ArrowDown')
  await expect(picked(page)).toHaveAttribute('data-testid', 'cell-form-native')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  await expect(picked(page)).toHaveAttribute('data-testid', `cell-decode-${BACKEND_NAMES[1]}`)
  await page.keyboard.press('End')
  await expect(picked(page)).toHaveAttribute('data-testid', `cell-decode-${BACKEND_NAMES.at(-1)}`)
  await expect(picked(page)).toBeInViewport()

  // Names of back-ends pick columns, other words lines.
  await page.keyboard.press('/')
  await page.keyboard.type('flashmla page')
  await expect(page.locator('.matrix-head')).toHaveText(['vllm-flashmla', 'vllm-flashmla-sparse'])
  await expect(page.getByTestId('line-page-64')).toBeVisible()
  await expect(page.getByTestId('line-q-2')).toHaveCount(0)
  await page.keyboard.press('Enter')
  await page.getByTestId('wanted-refused').click()
  await expect(page.getByTestId('line-page-64')).toHaveCount(0)
  await page.getByTestId('cell-page-32-vllm-flashmla').click()
  await page.keyboard.press('c')
  await expect
    .poll(async () => JSON.parse(await clipboard(app)))
    .toMatchObject({
      cache: { pageSize: 32 },
      serving: { backend: 'vllm-flashmla' },
    })
  await page.getByTestId('copy-matrix').click()
  await expect.poll(() => clipboard(app)).toContain('Pages of 32\trefused (page-size)\trefused (page-size)')

  await page.keyboard.press('t')
  await expect(page.getByTestId('form-issues')).toContainText('cache.pageSize')
  await expect(page.getByTestId('form-issues')).toContainText('vllm-flashmla refuses this (page-size)')
  await field(page, 'cache.pageSize').fill('64')
  await expect(page.getByTestId('form-issues')).toHaveCount(0)

  await page.keyboard.press('Escape')
  await showView(page, 'backends')
  await page.getByTestId('backends-framework').selectOption('TensorRT-LLM')
  await expect(page.getByTestId('backends-none')).toBeVisible()
  await page.getByRole('button', { name: 'Show all' }).click()
  await expect(page.getByTestId('matrix')).toBeVisible()
  await page.getByTestId('cell-q-2-native').click()
  await page.keyboard.press('Escape')
  await expect(picked(page)).toHaveCount(0)
})

test('the form gets the semantics of its back-end, and says what that replaces', async ({
  desk: { page },
}) => {
  const serving = page.getByRole('region', { name: 'Serving' })
  await serving.getByRole('button').first().click()
  await serving.getByRole('button', { name: /^more \(/ }).click()
  await field(page, 'serving.backend').selectOption('sglang-trtllm-mla')
  const base = field(page, 'engine.lseBase')
  await expect(base.getByRole('button', { name: '2', exact: true })).toHaveAttribute('aria-pressed', 'true')
  await expect(base.getByRole('button', { name: 'e', exact: true })).toBeDisabled()
  await expect(page.getByTestId('backend-notes')).toContainText('fused-write')
  await field(page, 'workload.qLen').fill('2')
  await expect(page.getByTestId('form-issues')).toContainText('sglang-trtllm-mla refuses this (q-len)')
  await page.getByTestId('backend-notes').getByRole('button').click()
  await expect(page.getByTestId('cell-form-sglang-trtllm-mla')).toHaveAttribute('data-verdict', 'refused')
  await expect(picked(page)).toHaveAttribute('data-testid', 'cell-form-sglang-trtllm-mla')
  await expect(page.getByTestId('cell-form-vllm-triton-mla')).toHaveAttribute('data-verdict', 'fallback')
})

test('nothing is cut off in either theme and size', async ({ desk: { app, page } }) => {
  await showView(page, 'backends')
  await page.getByTestId('cell-gathered-96-sglang-trtllm-mla').click()
  for (const [width, height] of SIZES) {
    await resize(app, page, width, height)
    for (const theme of ['dark', 'light']) {
      await chooseTheme(page, theme)
      const cut = await page
        .locator('.matrix-scroll, .matrix-cell, .matrix-head, .backends-toolbar')
        .evaluateAll((all) =>
          all
            .filter(
              (one) =>
                one.scrollWidth > one.clientWidth + 1 ||
                (!one.classList.contains('matrix-scroll') && one.scrollHeight > one.clientHeight + 1),
            )
            .map((one) => `${one.className} ${one.textContent ?? ''}`),
        )
      expect(cut, `${width} ${theme}`).toEqual([])
      await expect(picked(page)).toBeInViewport()
    }
  }
})
