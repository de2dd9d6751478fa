import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VIEW_IDS } from '../../renderer/state/view.ts'
import { chooseTheme, resize, runDefault, SIZES, settled, showView } from './desk.ts'
import { expect, test } from './fixture.ts'

const FOLDER = join(__dirname, '..', '..', 'test-results', 'screens')
const THEMES = ['dark', 'light'] as const

for (const [width, height] of SIZES)
  for (const theme of THEMES)
    test(`every view fits ${width}x${height} in the ${theme} theme`, async ({ desk: { app, page } }) => {
      test.slow()
      mkdirSync(FOLDER, { recursive: true })
      await resize(app, page, width, height)
      await chooseTheme(page, theme)
      await page.screenshot({ path: join(FOLDER, `start-${theme}-${width}.png`) })
      await runDefault(page)
      for (const view of VIEW_IDS) {
        await showView(page, view)
        // What loads on its own has loaded when the picture no longer changes.
        await expect(page.locator('main')).toBeVisible()
        const picture = await settled(page, async () => (await page.screenshot()).toString('base64'))
        writeFileSync(join(FOLDER, `${view}-${theme}-${width}.png`), picture, 'base64')
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight',
        )
        expect(overflow, `${view} scrolls the window`).toBe(false)
      }
      await showView(page, 'ownership')
      await page.keyboard.press('F1')
      await page.keyboard.press('Tab')
      await page.screenshot({ path: join(FOLDER, `about-${theme}-${width}.png`) })
      await page.keyboard.press('F1')
      await page.keyboard.press('Shift+?')
      await page.screenshot({ path: join(FOLDER, `help-${theme}-${width}.png`) })
      await page.keyboard.press('Escape')
      await showView(page, 'timeline')
      await page.keyboard.press('BracketRight')
      await page.keyboard.press('KeyF')
      for (const [key, panel] of [
        ['KeyT', 'stats'],
        ['KeyK', 'path'],
        ['KeyE', 'notes'],
        ['KeyV', 'table'],
      ] as const) {
        await page.getByTestId('timeline-canvas').focus()
        await page.keyboard.press(key)
        const picture = await settled(page, async () => (await page.screenshot()).toString('base64'))
        writeFileSync(join(FOLDER, `timeline-${panel}-${theme}-${width}.png`), picture, 'base64')
      }
      await page.getByTestId('timeline-panel-drawn').click()
      await showView(page, 'merge')
      await page.keyboard.press('Control+E')
      await expect(page.getByTestId('export-menu')).toContainText('Save as CSV')
      await page.screenshot({ path: join(FOLDER, `export-${theme}-${width}.png`) })
      await page.keyboard.press('Escape')
      await page.keyboard.press('Control+F')
      await page.keyboard.type('lse_correct step 3')
      await expect(page.getByRole('option').first()).toBeVisible()
      await page.screenshot({ path: join(FOLDER, `search-${theme}-${width}.png`) })
      await page.keyboard.press('Control+Shift+P')
      await page.keyboard.type('step')
      await page.screenshot({ path: join(FOLDER, `palette-${theme}-${width}.png`) })
    })
