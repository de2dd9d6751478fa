// @ts-check
/** Going through the steps of a recorded run by the scrubber, with each view that shows a step. */
import { answersOf, shows } from './answers.mjs'
import { aimed, quantile } from './figures.mjs'
import { hold, sceneOf } from './timeline.mjs'
import { quiet, showView } from './window.mjs'

const BUDGET = { frameP95Ms: 33, answerMs: 100 }
const VIEWS = ['run', 'timeline', 'ownership', 'merge', 'pages', 'events']
const DRAG_MS = 3000
const KEYS_MS = 2500
const PRESSES = 8

/** @typedef {import('./window.mjs').Opened} Opened */

/** Drags the handle from the first step to the last, as a hand does. @param {Opened} window */
const dragging =
  ({ page }) =>
  async () => {
    const box = await page.getByTestId('step-range').boundingBox()
    if (box === null) throw new Error('the scrubber has no box')
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + 2, y)
    await page.mouse.down()
    const began = performance.now()
    for (let share = 0; share < 1; share = (performance.now() - began) / DRAG_MS) {
      await page.mouse.move(box.x + 2 + Math.min(1, share) * (box.width - 4), y)
      await page.waitForTimeout(8)
    }
    await page.mouse.up()
  }

const ANOTHER_STEP = (/** @type {number} */ step) =>
  `document.querySelector('[data-testid="crumb-step"] .num')?.textContent.replace(/\\D/g, '') === '${step}'`

/** @param {Opened} window @param {number} steps */
export const measureScrubbing = async (window, steps) => {
  const { page } = window
  const views = []
  for (const view of VIEWS) {
    await showView(window, view)
    const dragged = await sceneOf(window, `${view}: dragging`, dragging(window))
    if (!((dragged.questions.steps ?? 0) > 10))
      throw new Error(`dragging in ${view} did not go over the steps`)
    await quiet(window)
    // The scrubber would take the keys of a range for itself.
    await page.getByTestId('step-range').blur()
    const held = await sceneOf(window, `${view}: holding [`, () => hold(window, 'BracketLeft', KEYS_MS))
    await quiet(window)
    await page.getByTestId('step-range').fill(String(Math.floor(steps / 2)))
    await page.getByTestId('step-range').blur()
    await quiet(window)
    const answers = []
    for (let i = 1; i <= PRESSES; i++)
      answers.push(
        await shows(window, ANOTHER_STEP(Math.floor(steps / 2) + i), 'true', () =>
          page.keyboard.press('BracketRight'),
        ),
      )
    views.push({ view, scenes: [dragged, held], nextStep: answersOf(answers) })
  }
  const p95 = views.flatMap(({ scenes }) => scenes.map(({ frameMs }) => frameMs.p95))
  return {
    steps,
    views,
    frameP95Ms: aimed(quantile(p95, 1), BUDGET.frameP95Ms),
    answeredMs: aimed(
      quantile(
        views.map(({ nextStep }) => nextStep.answeredMs.worst),
        1,
      ),
      BUDGET.answerMs,
    ),
  }
}
