import { bundlesOf, rangeOf, runDefault, showView, span } from './desk.ts'
import { expect, test } from './fixture.ts'

test('a person finds a command by its name, runs it by keys alone, and is back where they were', async ({
  desk: { page },
}) => {
  await runDefault(page)
  await showView(page, 'timeline')
  await page.getByTestId('timeline-canvas').focus()
  const whole = span(await rangeOf(page))

  await page.keyboard.press('Control+Shift+P')
  const field = page.getByRole('combobox', { name: 'Commands' })
  await expect(field).toBeFocused()
  await page.keyboard.type('zoom')
  const options = page.getByRole('listbox', { name: 'Commands' }).getByRole('option')
  await expect(options.first()).toHaveText(/^Zoom inTimelineW$/)
  await expect(options.first()).toHaveAttribute('aria-selected', 'true')
  const active = await field.getAttribute('aria-activedescendant')
  expect(await options.first().getAttribute('id')).toBe(active)
  await page.keyboard.press('Enter')
  await expect(field).toBeHidden()
  await expect.poll(async () => span(await rangeOf(page))).toBeLessThan(whole)
  await expect(page.getByTestId('timeline-canvas')).toBeFocused()

  // Over the end of the list and back.
  await page.keyboard.press('Control+Shift+P')
  await page.keyboard.type('show the')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowDown')
  await expect(options.first()).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('Escape')
  await expect(field).toBeHidden()
  await expect(page.getByTestId('view-timeline')).toHaveAttribute('aria-current', 'page')
})

test('the palette opens runs, moves the focus where a command says, and says when nothing fits', async ({
  desk: { page, dataDir },
}) => {
  await runDefault(page)
  const name = bundlesOf(dataDir)[0]?.split('/').at(-1)?.replace('.dcp', '') ?? ''
  await page.getByTestId('run-picker').click()
  await page.getByRole('button', { name: 'New run' }).click()
  await page.getByTestId('show-palette').click()
  await page.keyboard.type('nothing is called so')
  await expect(page.locator('.palette')).toContainText('No command fits')
  await page.keyboard.press('Enter')
  await page.getByTestId('palette').fill(name)
  await page.keyboard.press('Enter')
  await expect(page.locator('.run-picker-name')).toHaveText(name)

  await showView(page, 'scenarios')
  await page.keyboard.press('Control+Shift+P')
  await page.keyboard.type('filter by')
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('scenario-filter')).toBeFocused()

  // A click elsewhere puts it away; what does nothing now cannot be chosen.
  await page.keyboard.press('Control+Shift+P')
  const undo = page.getByRole('option', { name: 'Undo an edit of the configuration' })
  await expect(undo).toHaveAttribute('aria-disabled', 'true')
  await undo.click({ force: true })
  await expect(page.getByTestId('palette')).toBeVisible()
  await page.locator('.status-line').click()
  await expect(page.getByTestId('palette')).toBeHidden()
})
