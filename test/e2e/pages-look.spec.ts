import { chooseTheme, resize, runDefault, settled, showView } from './desk.ts'
import { test } from './fixture.ts'

test('look', async ({ desk: { app, page } }) => {
  await resize(app, page, 1280, 800)
  await chooseTheme(page, 'dark')
  await showView(page, 'pages')
  await page.screenshot({ path: '/tmp/wt/pages-shots/none.png' })
  await showView(page, 'run')
  await runDefault(page)
  await showView(page, 'pages')
  const shot = async (name: string) => {
    await settled(page, async () => (await page.screenshot()).toString('base64'))
    await page.screenshot({ path: `/tmp/wt/pages-shots/${name}.png` })
  }
  await shot('plain')
  const box = await page.getByTestId('pages-canvas').boundingBox()
  if (box === null) throw new Error('no box')
  await page.mouse.move(box.x + 90, box.y + 30)
  await page.mouse.move(box.x + 92, box.y + 36)
  await shot('hover')
  await page.mouse.click(box.x + 92, box.y + 36)
  await shot('picked')
  await page.keyboard.press('t')
  await shot('table')
  await page.keyboard.press('t')
  await page.keyboard.press('c')
  await page.keyboard.press('End')
  await shot('end')
  await chooseTheme(page, 'light')
  await shot('light')
  await resize(app, page, 2560, 1440)
  await shot('large')
})
