import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runDefault, showView, type ViewName } from './desk.ts'
import { expect, test } from './fixture.ts'

const FOLDER = join(__dirname, '..', '..', 'test-results', 'screens')
const SIZES = [
  [1280, 800],
  [2560, 1440],
] as const
const THEMES = ['dark', 'light'] as const
const VIEWS: readonly ViewName[] = ['run', 'timeline', 'ownership', 'merge']

for (const [width, height] of SIZES)
  for (const theme of THEMES)
    test(`every view fits ${width}x${height} in the ${theme} theme`, async ({ desk: { app, page } }) => {
      mkdirSync(FOLDER, { recursive: true })
      await app.evaluate(
        ({ BrowserWindow, nativeTheme }, wanted) => {
          nativeTheme.themeSource = wanted.theme
          BrowserWindow.getAllWindows()[0]?.setContentSize(wanted.width, wanted.height)
        },
        { theme, width, height },
      )
      await expect(page.locator('html')).toHaveAttribute('data-theme', theme)
      await expect.poll(() => page.evaluate('[innerWidth, innerHeight].join()')).toBe(`${width},${height}`)
      await page.screenshot({ path: join(FOLDER, `start-${theme}-${width}.png`) })
      await runDefault(page)
      for (const view of VIEWS) {
        await showView(page, view)
        // What loads on its own has loaded when the picture no longer changes.
        await expect(page.locator('main')).toBeVisible()
        await page.waitForTimeout(800)
        await page.screenshot({ path: join(FOLDER, `${view}-${theme}-${width}.png`) })
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight',
        )
        expect(overflow, `${view} scrolls the window`).toBe(false)
      }
    })
