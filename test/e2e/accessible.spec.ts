import { rmSync } from 'node:fs'
import { VIEW_IDS } from '../../renderer/state/view.ts'
import { seriousIn } from './axe.ts'
import { chooseTheme, runDefault, settled, showView } from './desk.ts'
import { expect, test } from './fixture.ts'
import { launch } from './launch.ts'
import { smallSweep } from './small-sweep.ts'

for (const theme of ['dark', 'light'] as const)
  test(`axe finds nothing serious in any view, empty and full, in the ${theme} theme`, async ({
    desk: { page },
  }) => {
    // Some forty pictures, each looked at once it stands still.
    test.setTimeout(600_000)
    await chooseTheme(page, theme)
    const found: string[] = []
    const look = async (what: string): Promise<void> => {
      await settled(page, async () => (await page.screenshot()).toString('base64'))
      found.push(...(await seriousIn(page)).map((sentence) => `${what}: ${sentence}`))
    }
    for (const view of VIEW_IDS) {
      await showView(page, view)
      await look(`${view}, empty`)
    }
    await showView(page, 'run')
    await runDefault(page)
    for (const view of VIEW_IDS) {
      await showView(page, view)
      await look(view)
    }
    await showView(page, 'timeline')
    await page.keyboard.press('BracketRight')
    for (const [key, panel] of [
      ['KeyN', 'a lane'],
      ['Period', 'a span'],
      ['KeyT', 'statistics'],
      ['KeyK', 'critical path'],
      ['KeyV', 'table'],
      ['KeyE', 'notes'],
    ] as const) {
      await page.keyboard.press(key)
      await look(`timeline, ${panel}`)
    }
    await showView(page, 'pages')
    await page.keyboard.press('t')
    await look('pages as tables')
    await showView(page, 'merge')
    await page.keyboard.press('F1')
    await page.keyboard.press('Shift+?')
    await look('help')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+E')
    await look('export')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+Shift+P')
    await look('palette')
    expect(found).toEqual([])
  })

test('axe finds nothing serious in a sweep, in both themes', async () => {
  const { data, bundle } = await smallSweep()
  const { page, close, errors } = await launch({ dataDir: data, args: [bundle] })
  const found: string[] = []
  for (const theme of ['dark', 'light']) {
    await chooseTheme(page, theme)
    await expect(page.getByTestId('gain-map')).toBeVisible()
    await page.getByTestId('map-128-1').click()
    await settled(page, async () => (await page.screenshot()).toString('base64'))
    found.push(...(await seriousIn(page)).map((sentence) => `${theme}: ${sentence}`))
  }
  expect(found).toEqual([])
  await close()
  expect(errors).toEqual([])
  rmSync(data, { recursive: true, force: true })
})

test('everything in the frame has the focus in its order, seen, and nothing moves for those who want no motion', async ({
  desk: { page },
}) => {
  await runDefault(page)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  // The first control on, through bars, rail and view, round once.
  await page.evaluate("document.querySelector('header :is(button, input, select):enabled').focus()")
  await page.keyboard.press('Tab')
  await page.keyboard.press('Shift+Tab')
  const names: string[] = []
  for (let i = 0; i < 400; i++) {
    if (i > 0) await page.keyboard.press('Tab')
    const at = String(
      await page.evaluate(`(() => {
        const element = document.activeElement
        if (element === document.body || element.dataset.seen) return ''
        element.dataset.seen = 'yes'
        const { outlineStyle, outlineWidth, boxShadow, borderColor } = getComputedStyle(element)
        const box = element.getBoundingClientRect()
        const ringed = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
        const where = element.closest('.topbar, .rail, .frame-main, .inspector, .status-line')?.classList[0] ?? '?'
        return where + (box.width > 0 && ringed ? '' : ' unseen: ' + element.outerHTML.slice(0, 120))
      })()`),
    )
    if (at === '') break
    names.push(at)
  }
  expect(names.filter((name) => name.includes('unseen'))).toEqual([])
  // Each part of the frame is passed once, in the order in which it is seen.
  const parts = names.filter((name, i) => name !== names[i - 1])
  expect(parts).toEqual(['topbar', 'rail', 'frame-main', 'inspector', 'status-line'])
  const moving = await page.evaluate(`[...document.querySelectorAll('*')].filter((element) => {
    const { transitionDuration, animationName, animationDuration } = getComputedStyle(element)
    return transitionDuration.split(', ').some((part) => parseFloat(part) > 0.001) ||
      (animationName !== 'none' && parseFloat(animationDuration) > 0.001)
  }).map((element) => element.outerHTML.slice(0, 120))`)
  expect(moving).toEqual([])
})
