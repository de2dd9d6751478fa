// @ts-check
/** Zooming and panning the map of a million tokens, and of one that is dealt out by 64. */
import { aimed, quantile } from './figures.mjs'
import { holding, sceneOf, wheeling } from './timeline.mjs'
import { quiet, showView } from './window.mjs'

const BUDGET = { frameP95Ms: 33 }
const TOKENS = 1_000_000
const LAYOUTS = [
  { dcp: 8, interleave: 1 },
  { dcp: 8, interleave: 64 },
]
/** Turns of the wheel inwards before panning. */
const NEARER = [3, 12, 24, 40]

/** @typedef {import('./window.mjs').Opened} Opened */

/** @param {Opened} window @param {Record<string, number>} fields */
const calculate = async ({ page }, fields) => {
  for (const [name, value] of Object.entries(fields))
    await page.getByTestId(`ownership-${name}`).fill(String(value))
}

/** @param {Opened} window */
export const measureOwnership = async (window) => {
  const { page } = window
  await showView(window, 'ownership')
  await page.getByTestId('ownership-calculator').click()
  const canvas = page.getByTestId('ownership-canvas')
  const scenes = []
  for (const { dcp, interleave } of LAYOUTS) {
    await calculate(window, { len: TOKENS, dcp, interleave, page: 64 })
    await canvas.focus()
    const box = await canvas.boundingBox()
    if (box === null) throw new Error('the map has no box')
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    const name = `dcp ${dcp}, interleave ${interleave}`
    for (const turns of NEARER) {
      await page.keyboard.press('Digit0')
      for (let i = 0; i < turns; i++) await page.mouse.wheel(0, -120)
      await quiet(window)
      scenes.push(
        await sceneOf(window, `${name}: panning, ${turns} turns nearer`, holding(window, ['KeyD', 'KeyA'])),
      )
    }
    await page.keyboard.press('Digit0')
    scenes.push(await sceneOf(window, `${name}: zooming by W and S`, holding(window, ['KeyW', 'KeyS'])))
    await page.keyboard.press('Digit0')
    scenes.push(await sceneOf(window, `${name}: zooming by the wheel`, wheeling(window)))
  }
  return {
    tokens: TOKENS,
    scenes,
    frameP95Ms: aimed(
      quantile(
        scenes.map(({ frameMs }) => frameMs.p95),
        1,
      ),
      BUDGET.frameP95Ms,
    ),
  }
}
