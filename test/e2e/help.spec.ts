import { GLOSSARY } from '../../app/help/glossary.ts'
import { VIEW_IDS, VIEW_TITLES } from '../../renderer/state/view.ts'
import { runDefault, showView } from './desk.ts'
import { expect, test } from './fixture.ts'

test('every view explains itself, terms are defined under pointer and focus, and all of them are in the sheet', async ({
  desk: { page },
}) => {
  await runDefault(page)
  await page.keyboard.press('F1')
  const help = page.getByTestId('view-help')
  await expect(help).toBeFocused()
  for (const view of VIEW_IDS) {
    await showView(page, view)
    await expect(page.getByRole('region', { name: `About ${VIEW_TITLES[view]}` })).toBeVisible()
  }

  // The formula is that of the view.
  await showView(page, 'ownership')
  await expect(help).toContainText('⌊t / I⌋ mod c')

  // By keys: the first term that takes the focus says what it is, until Esc.
  await help.focus()
  await page.keyboard.press('Tab')
  const tip = page.getByRole('tooltip')
  await expect(tip).toHaveText(`rank ${GLOSSARY.rank.text}`)
  await page.keyboard.press('Escape')
  await expect(tip).toHaveCount(0)
  await expect(help).toBeVisible()
  // By pointer, also where the inspector writes the term.
  await page.getByTestId('inspector').getByText('interleave', { exact: true }).first().hover()
  await expect(tip).toHaveText(`interleave ${GLOSSARY.interleave.text}`)
  await page.mouse.move(0, 0)
  await expect(tip).toHaveCount(0)

  await help.getByRole('button', { name: 'Close' }).click()
  await expect(help).toHaveCount(0)
  await page.keyboard.press('Shift+?')
  await expect(page.getByTestId('glossary')).toContainText(GLOSSARY.qLen.text)
})
