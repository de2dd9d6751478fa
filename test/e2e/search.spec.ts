import { numbers, onlyBundle, rangeOf, runDefault, showView, span } from './desk.ts'
import { expect, test } from './fixture.ts'

test('a person finds the longest attention of a rank, and is brought to it', async ({
  desk: { page, dataDir },
}) => {
  await runDefault(page)
  await showView(page, 'merge')
  await page.keyboard.press('Slash')
  const field = page.getByRole('combobox', { name: 'Search the run' })
  await expect(field).toBeFocused()
  await expect(page.locator('.search .choice-list')).toContainText('Try: step 12')
  await page.keyboard.type('decode rank 2')
  const options = page.getByRole('listbox', { name: 'Search the run' }).getByRole('option')
  await expect(options.first()).toContainText('decode_attn, rank 2')
  const { longest, start, step } = await numbers(
    onlyBundle(dataDir),
    "SELECT dur_ns AS longest, start_ns AS start, step FROM spans WHERE stage = 'decode_attn' AND rank = 2 ORDER BY dur_ns DESC, start_ns LIMIT 1",
  )
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('view-timeline')).toHaveAttribute('aria-current', 'page')
  await expect(page.getByTestId('crumb-rank')).toHaveText('rank 2')
  await expect(page.getByTestId('crumb-step')).toHaveText(`step ${step}`)
  await expect(field).not.toBeFocused()
  const shown = await rangeOf(page)
  expect(shown.start).toBeLessThanOrEqual(start ?? 0)
  expect(shown.end).toBeGreaterThanOrEqual((start ?? 0) + (longest ?? 0))
  expect(span(shown)).toBeLessThan(20 * Math.max(100, longest ?? 0))
  await expect(page.getByTestId('inspector')).toContainText('decode_attn')

  // The way back is one step.
  await page.keyboard.press('Alt+ArrowLeft')
  await expect(page.getByTestId('view-merge')).toHaveAttribute('aria-current', 'page')
  await expect(page.getByTestId('crumb-rank')).toBeHidden()
})

test('tokens, pages, steps and what is not there are found by number', async ({
  desk: { page, dataDir },
}) => {
  const field = page.getByTestId('search')
  const options = page.getByRole('listbox', { name: 'Search the run' }).getByRole('option')
  await field.click()
  await expect(page.locator('.search .choice-list')).toContainText('Open a run to search it.')
  await runDefault(page)
  const { physical, request, column } = await numbers(
    onlyBundle(dataDir),
    'SELECT page AS physical, request, "column" FROM pages WHERE request = 1 ORDER BY "column" DESC, step LIMIT 1',
  )

  await field.fill('token 20 request 2')
  await expect(options).toHaveCount(1)
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('view-ownership')).toHaveAttribute('aria-current', 'page')
  await expect(page.getByTestId('crumb-token')).toHaveText('token 20')
  await expect(page.getByTestId('crumb-request')).toHaveText('request 2')

  await page.keyboard.press('Control+F')
  await page.keyboard.type(`page ${physical}`)
  await expect(options.filter({ hasText: `virtual page ${column} of request ${request}` })).toHaveCount(1)

  await field.fill('step 99')
  await expect(options).toHaveText(/No step 99: the run has step 0 to 23/)
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('crumb-step')).toBeHidden()
  await field.fill('step 7')
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('crumb-step')).toHaveText('step 7')
  await expect(page.getByTestId('view-ownership')).toHaveAttribute('aria-current', 'page')

  await field.fill('zzz')
  await expect(page.locator('.search .choice-list')).toContainText('Nothing fits.')
  await page.keyboard.press('Escape')
  await expect(page.locator('.search .choice-list')).toBeHidden()

  // A view that has a filter of its own keeps its key; the other one goes to the search from everywhere.
  await showView(page, 'scenarios')
  await page.keyboard.press('Slash')
  await expect(page.getByTestId('scenario-filter')).toBeFocused()
  await page.keyboard.press('Control+F')
  await expect(field).toBeFocused()
})
