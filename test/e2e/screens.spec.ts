import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { runDefault, settled, showView, type ViewName } from './desk.ts'
import { expect, test } from './fixture.ts'

const FOLDER = join(__dirname, '..', '..', 'test-results', 'screens')
const SIZES = [
  [1280, 800],
  [2560, 1440],
] as const
const THEMES = ['dark', 'light'] as const
const VIEWS: readonly ViewName[] = ['run', 'timeline', 'ownership', 'merge', 'throughput']

/** Clicks through the choices of the theme: system, light, dark. */
const chooseTheme = async (page: Page, theme: string): Promise<void> => {
  const html = page.locator('html')
  for (let clicks = 0; clicks < 3 && (await html.getAttribute('data-theme')) !== theme; clicks++)
    await page.getByTestId('theme').click()
  await expect(html).toHaveAttribute('data-theme', theme)
}

for (const [width, height] of SIZES)
  for (const theme of THEMES)
    test(`every view fits ${width}x${height} in the ${theme} theme`, async ({ desk: { app, page } }) => {
      mkdirSync(FOLDER, { recursive: true })
      await app.evaluate(
        ({ BrowserWindow }, size) =>
          BrowserWindow.getAllWindows()[0]?.setContentSize(size.width, size.height),
        { width, height },
      )
      // A display may keep a pixel for itself.
      await expect
        .poll(async () => Math.abs(Number(await page.evaluate('innerWidth')) - width))
        .toBeLessThan(3)
      await chooseTheme(page, theme)
      await page.screenshot({ path: join(FOLDER, `start-${theme}-${width}.png`) })
      await runDefault(page)
      for (const view of VIEWS) {
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
    })
