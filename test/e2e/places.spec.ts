import type { Page } from 'playwright/test'
import { rangeOf, runDefault, showView, span, wheelIn } from './desk.ts'
import { expect, test } from './fixture.ts'

/** Longer than moves of the selection are taken for one. */
const REST_MS = 900

const shownView = (page: Page): Promise<string | null> =>
  page.locator('.rail-item[aria-current="page"]').getAttribute('data-testid')

test('a person goes back to where they were, with selection and zoom, and forward again', async ({
  desk: { page },
}) => {
  await expect(page.getByTestId('place-back')).toBeDisabled()
  await runDefault(page)
  await showView(page, 'timeline')
  const box = await page.getByTestId('timeline-canvas').boundingBox()
  if (box === null) throw new Error('the timeline has no canvas')
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await wheelIn(page, 3)
  const zoomed = await rangeOf(page)

  await showView(page, 'merge')
  // At once after it was shown: where a person only passed is no place.
  await page.keyboard.press('BracketLeft')
  await expect(page.getByTestId('crumb-step')).toHaveText('step 22')
  await page.waitForTimeout(REST_MS)
  // A scrub: many steps, one place.
  await page.getByTestId('step-range').focus()
  for (let i = 0; i < 8; i++) await page.keyboard.press('ArrowLeft')
  await expect(page.getByTestId('crumb-step')).toHaveText('step 14')

  await page.keyboard.press('Alt+ArrowLeft')
  await expect(page.getByTestId('crumb-step')).toHaveText('step 22')
  await expect(page.getByTestId('place-back')).toHaveAttribute('title', 'Back: Timeline (Alt+←)')
  await page.getByTestId('place-back').click()
  await expect(page.getByTestId('crumb-step')).toBeHidden()
  expect(await shownView(page)).toBe('view-timeline')
  expect(span(await rangeOf(page))).toBeCloseTo(span(zoomed), 0)

  await expect(page.getByTestId('place-forward')).toHaveAttribute('title', 'Forward: Merge, step 22 (Alt+→)')
  for (let i = 0; i < 2; i++) await page.keyboard.press('Alt+ArrowRight')
  await expect(page.getByTestId('crumb-step')).toHaveText('step 14')
  expect(await shownView(page)).toBe('view-merge')
  await expect(page.getByTestId('place-forward')).toBeDisabled()
})

test('the side buttons of a mouse go back and forward', async ({ desk: { page } }) => {
  await showView(page, 'ownership')
  await showView(page, 'backends')
  const press = (button: number): Promise<unknown> =>
    page.evaluate(
      `document.body.dispatchEvent(new MouseEvent('mouseup', { button: ${button}, bubbles: true, cancelable: true }))`,
    )
  await press(3)
  await expect.poll(() => shownView(page)).toBe('view-ownership')
  await press(3)
  await expect.poll(() => shownView(page)).toBe('view-run')
  await press(4)
  await expect.poll(() => shownView(page)).toBe('view-ownership')
})
