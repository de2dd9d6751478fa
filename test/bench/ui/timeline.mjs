// @ts-check
/** Panning and zooming the timeline of many spans. */
import { aimed, mb, quantile, spread, tenth } from './figures.mjs'
import { framesDuring, heapOf, metrics, PATIENCE_MS, quiet } from './window.mjs'

const MOVE_MS = 2500
const BUDGET = { frameP95Ms: 33, heapMb: 300 }
/** How much of the run is shown while panning: 1/4 merges thousands of spans a pixel, the last shows single ones. */
const ZOOMS = [4, 64, 1024, 16_384]
/** A key that is held is told again so often. */
const REPEAT_MS = 33

/** @typedef {import('./window.mjs').Opened} Opened */

/** Holds a key down, as a keyboard tells it. @param {Opened} window @param {string} key @param {number} ms */
const hold = async ({ page }, key, ms) => {
  for (const end = performance.now() + ms; performance.now() < end; ) {
    await page.keyboard.down(key)
    await page.waitForTimeout(REPEAT_MS)
  }
  await page.keyboard.up(key)
}

/** Holds keys for their turn. @param {Opened} window @param {readonly string[]} keys */
const holding = (window, keys) => async () => {
  for (const key of keys) await hold(window, key, MOVE_MS)
}

/** @param {Opened} window */
const wheeling = (window) => async () => {
  for (const turn of [-120, 120])
    for (const end = performance.now() + MOVE_MS; performance.now() < end; ) {
      await window.page.mouse.wheel(0, turn)
      await window.page.waitForTimeout(REPEAT_MS)
    }
}

/** @param {Opened} window @param {string} name @param {() => Promise<void>} act */
const sceneOf = async (window, name, act) => {
  const { frames, questions, threadMs } = await framesDuring(window, act)
  return {
    scene: name,
    frames: frames.length,
    /** Processor time of the page's main thread: does not grow when the machine is busy with other work. */
    mainThreadMsPerFrame: tenth(threadMs / Math.max(1, frames.length)),
    frameMs: spread(frames),
    questions,
    heapMb: mb(await heapOf(window)),
  }
}

/** The timeline must be shown with nothing zoomed. @param {Opened} window */
export const measureTimeline = async (window) => {
  const { page, cdp } = window
  const opened = performance.now()
  await page.getByTestId('view-timeline').click()
  const canvas = page.getByTestId('timeline-canvas')
  while (!(Number(await canvas.getAttribute('data-pieces', { timeout: PATIENCE_MS })) > 0))
    await page.waitForTimeout(20)
  const firstTilesMs = Math.round(performance.now() - opened)
  await quiet(window)
  await canvas.focus()
  const range = page.getByTestId('timeline-range')
  const span = async () =>
    Number(await range.getAttribute('data-end')) - Number(await range.getAttribute('data-start'))
  const whole = await span()
  const box = await canvas.boundingBox()
  if (box === null) throw new Error('the canvas has no box')
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  const scenes = []
  for (const zoom of ZOOMS) {
    await page.keyboard.press('Digit0')
    for (let i = 0; (await span()) > whole / zoom && i < 200; i++) await page.mouse.wheel(0, -240)
    await quiet(window)
    scenes.push(await sceneOf(window, `panning at 1/${zoom}`, holding(window, ['KeyD', 'KeyA'])))
  }
  await page.keyboard.press('Digit0')
  await quiet(window)
  scenes.push(await sceneOf(window, 'zooming by W and S', holding(window, ['KeyW', 'KeyS'])))
  await page.keyboard.press('Digit0')
  await quiet(window)
  scenes.push(await sceneOf(window, 'zooming by the wheel', wheeling(window)))
  await cdp.send('HeapProfiler.collectGarbage')
  const [used = 0] = await metrics(window, ['JSHeapUsedSize'])
  return {
    firstTilesMs,
    scenes,
    frameP95Ms: aimed(Math.max(...scenes.map(({ frameMs }) => frameMs.p95)), BUDGET.frameP95Ms),
    heapPeakMb: aimed(
      quantile(
        scenes.map(({ heapMb }) => heapMb),
        1,
      ),
      BUDGET.heapMb,
    ),
    heapAfterCollectionMb: mb(used),
  }
}

export { hold, holding, sceneOf, wheeling }
