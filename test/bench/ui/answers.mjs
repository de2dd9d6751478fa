// @ts-check
/** How long after an input the page shows what answers it. */
import { aimed, quantile, spread } from './figures.mjs'
import { quiet, showView } from './window.mjs'

const BUDGET_MS = 100
const REPEATS = 7

/** @typedef {import('./window.mjs').Opened} Opened */
/** @typedef {{ answered: number, complete: number, event: number }} Answer */
/**
 * `answered` and `complete` are expressions of the page, in which `$` finds an element; what is answered first may be that
 * something is on its way. `before` brings about what the input needs, `after` takes back what it did.
 * @typedef {{
 *   name: string, answered: string, complete?: string,
 *   act: (window: Opened, repeat: number) => Promise<unknown>,
 *   before?: (window: Opened, repeat: number) => Promise<unknown>,
 *   after?: (window: Opened) => Promise<unknown>,
 * }} Interaction
 */

/**
 * Without `complete` what the store still owes does not matter, as in a live run, where it always owes something.
 * @param {Opened} window @param {string} answered @param {string | null} complete @param {() => Promise<unknown>} act
 * @returns {Promise<Answer>}
 */
export const shows = async ({ page }, answered, complete, act) => {
  const find = 'const $ = (selector) => document.querySelector(selector)'
  const ends = complete === null ? 'null' : `() => { ${find}; return (${complete}) }`
  await page.evaluate(`window.bench.arm(() => { ${find}; return (${answered}) }, ${ends})`)
  await act()
  return /** @type {Promise<Answer>} */ (page.evaluate('window.benchResult'))
}

/** @param {readonly Answer[]} answers */
export const answersOf = (answers) => ({
  // What the browser says of the input itself goes on until the screen has the frame.
  answeredMs: spread(answers.map(({ answered, event }) => Math.max(answered, event))),
  completeMs: spread(answers.map(({ complete, event }) => Math.max(complete, event))),
})

const key =
  (/** @type {string} */ keys) =>
  (/** @type {Opened} */ { page }) =>
    page.keyboard.press(keys)

const click =
  (/** @type {string} */ testId) =>
  (/** @type {Opened} */ { page }) =>
    page.getByTestId(testId).click()

const view = (/** @type {string} */ name) => (/** @type {Opened} */ window) => showView(window, name)

const VIEWS = [
  'run',
  'timeline',
  'ownership',
  'pages',
  'merge',
  'events',
  'throughput',
  'backends',
  'postmortem',
  'compare',
  'scenarios',
]

/** Each view from another one. @returns {Interaction[]} */
const views = () =>
  VIEWS.map((name) => ({
    name: `view ${name}`,
    before: view('settings'),
    act: click(`view-${name}`),
    answered: `$('[data-testid="view-${name}"]').ariaCurrent === 'page' && $('.settings') === null && $('.frame-view').childElementCount > 0`,
  }))

/** Shows a panel by a key and hides it by the same. @param {string} name @param {string} keys @param {string} selector @returns {Interaction} */
const panel = (name, keys, selector) => ({
  name,
  act: key(keys),
  answered: `$('${selector}') !== null`,
  after: key(keys),
})

/** @type {Interaction[]} */
const FRAME = [
  {
    name: 'palette',
    act: key('Control+Shift+P'),
    answered: `$('.palette .choice') !== null`,
    after: key('Escape'),
  },
  {
    name: 'typing into the palette',
    before: key('Control+Shift+P'),
    act: key('m'),
    answered: `$('.palette input').value === 'm' && $('.palette .choice') !== null`,
    after: key('Escape'),
  },
  panel('help sheet', 'Shift+Slash', '[data-testid="help"]'),
  panel('explanation of the view', 'F1', '[data-testid="view-help"]'),
  {
    name: 'export menu',
    act: key('Control+E'),
    answered: `$('[data-testid="export-menu"]') !== null`,
    after: key('Escape'),
  },
  {
    name: 'hide the inspector',
    act: key('KeyI'),
    answered: `$('[data-testid="inspector"]') === null`,
    after: key('KeyI'),
  },
  {
    name: 'show the inspector',
    before: key('KeyI'),
    act: key('KeyI'),
    answered: `$('[data-testid="inspector"]') !== null`,
  },
  {
    name: 'narrow the rail',
    act: key('Control+B'),
    answered: `$('.rail-narrow') !== null`,
    after: key('Control+B'),
  },
  {
    name: 'theme',
    before: ({ page }) =>
      page.evaluate(`window.benchTheme = document.querySelector('[data-testid="theme"]').textContent`),
    act: click('theme'),
    answered: `$('[data-testid="theme"]').textContent !== window.benchTheme`,
  },
]

/** Within the lane of the first rank. @param {Opened} window @param {number} share of the time that is shown */
const clickLane = async ({ page }, share) => {
  const box = await page.getByTestId('timeline-canvas').boundingBox()
  if (box === null) throw new Error('the canvas has no box')
  await page.mouse.click(box.x + box.width * (0.2 + share / 2), box.y + box.height * 0.15)
}

const RANGE = `$('[data-testid="timeline-range"]').dataset.start + $('[data-testid="timeline-range"]').dataset.end`
const keepRange = (/** @type {Opened} */ { page }) =>
  page.evaluate(`{ const $ = (s) => document.querySelector(s); window.benchRange = ${RANGE} }`)
const STEP = `$('[data-testid="crumb-step"]')?.textContent`
const keep =
  (/** @type {string} */ expression) =>
  (/** @type {Opened} */ { page }) =>
    page.evaluate(`{ const $ = (s) => document.querySelector(s); window.benchKept = ${expression} }`)
const INSPECTOR = `$('[data-testid="inspector"]').textContent`

/** With the run of many spans. @returns {Interaction[]} */
const ofTimeline = () => [
  {
    name: 'select a span',
    before: view('timeline'),
    act: (window, repeat) => clickLane(window, (repeat + 1) / 10),
    answered: `$('[data-testid="crumb-rank"]') !== null`,
    after: key('Escape'),
  },
  {
    name: 'next span',
    before: async (window, repeat) => {
      if (repeat === 0) await clickLane(window, 0.3)
      await quiet(window)
      await keep(INSPECTOR)(window)
    },
    act: key('Period'),
    answered: `${INSPECTOR} !== window.benchKept`,
  },
  {
    name: 'zoom of the timeline',
    before: keepRange,
    act: key('KeyW'),
    answered: `${RANGE} !== window.benchRange`,
  },
  {
    name: 'pan of the timeline',
    before: keepRange,
    act: key('KeyD'),
    answered: `${RANGE} !== window.benchRange`,
  },
  {
    name: 'whole run in the timeline',
    before: async (window) => {
      await key('KeyW')(window)
      await quiet(window)
      await keepRange(window)
    },
    act: key('Digit0'),
    answered: `${RANGE} !== window.benchRange`,
  },
  {
    name: 'next step',
    before: keep(STEP),
    act: key('BracketLeft'),
    answered: `${STEP} !== window.benchKept`,
  },
  panel('statistics of a step', 'KeyT', '[data-testid="timeline-stats-scope"]'),
  {
    name: 'statistics of the run',
    before: key('Escape'),
    act: key('KeyT'),
    answered: `$('[data-testid="timeline-stats-scope"]') !== null`,
    after: key('KeyT'),
  },
  {
    name: 'critical path',
    before: key('BracketLeft'),
    act: key('KeyK'),
    answered: `$('[data-testid="timeline-panel-path"][aria-pressed="true"]') !== null`,
    after: key('KeyK'),
  },
  panel('what the lanes show, as a table', 'KeyV', '[data-testid="timeline-drawn-caption"]'),
  { name: 'search', act: key('Slash'), answered: `$('.search .choice-list') !== null`, after: key('Escape') },
  {
    name: 'search the spans',
    before: async ({ page }, repeat) => {
      await page.keyboard.press('Slash')
      await page.getByTestId('search').fill(`decode rank ${repeat % 8} layer `)
    },
    act: key('5'),
    answered: `$('.search input').value.endsWith('5') && $('.search .choice-list').textContent !== ''`,
    complete: `$('.search .choice') !== null && !$('.search').textContent.includes('Searching')`,
    after: async ({ page }) => {
      await page.getByTestId('search').fill('')
      await page.keyboard.press('Escape')
    },
  },
]

/**
 * A key of a view; with two they take turns, so that no end is reached.
 * @param {string} name @param {string} shown @param {readonly string[]} keys @param {string} answered @returns {Interaction}
 */
const move = (name, shown, keys, answered) => ({
  name,
  before: async (window, repeat) => {
    if (repeat === 0) {
      await showView(window, shown)
      await window.page.evaluate('document.activeElement?.blur()')
      // From nothing that is selected to something, which may be where one cannot go back from.
      // And one back, since it may be the last.
      for (const one of keys.length > 1 ? keys : []) await key(one)(window)
      await quiet(window)
    }
    await keep(answered)(window)
  },
  act: (window, repeat) => key(keys[repeat % keys.length] ?? '')(window),
  answered: `${answered} !== window.benchKept`,
})

const crumb = (/** @type {string} */ name) => `$('[data-testid="crumb-${name}"]')?.textContent`

/** With the recorded run. @returns {Interaction[]} */
const ofRecorded = () => [
  move('next head of the merge', 'merge', ['ArrowRight', 'ArrowLeft'], crumb('head')),
  move(
    'next row of the merge',
    'merge',
    ['ArrowDown', 'ArrowUp'],
    `${crumb('request')} + ${crumb('qIndex')}`,
  ),
  move('base of lse', 'merge', ['KeyB'], `$('[data-testid="merge-lse"]').textContent`),
  move('next token of the ownership', 'ownership', ['ArrowRight', 'ArrowLeft'], crumb('token')),
  move(
    'zoom of the ownership',
    'ownership',
    ['KeyW', 'KeyS'],
    `$('[data-testid="ownership-canvas"]').ariaLabel`,
  ),
  move(
    'next column of the block table',
    'pages',
    ['ArrowRight', 'ArrowLeft'],
    `${crumb('token')} + ${crumb('page')}`,
  ),
  move('next request of the block table', 'pages', ['ArrowDown', 'ArrowUp'], crumb('request')),
  move('next rank of the pages', 'pages', ['KeyN', 'KeyP'], crumb('rank')),
  move('tables of the pages', 'pages', ['KeyT'], `String($('[data-testid="pages-canvas"]') === null)`),
  move(
    'events of partials',
    'events',
    ['KeyL'],
    `document.querySelector('[data-testid^="events-level"][aria-pressed="true"]')?.textContent`,
  ),
  move('next step of the comparison', 'compare', ['ArrowRight', 'ArrowLeft'], STEP),
  move(
    'next stage of the comparison',
    'compare',
    ['ArrowDown', 'ArrowUp'],
    `$('.compare-times .rank-row-selected').textContent`,
  ),
  move('swap of the comparison', 'compare', ['KeyX'], `$('[data-testid="compare-a"]').value`),
  {
    name: 'another open run',
    before: async (window) => {
      await showView(window, 'timeline')
      await keep(`$('.selection-run').textContent`)(window)
    },
    act: key('Control+Tab'),
    answered: `$('.selection-run').textContent !== window.benchKept`,
  },
  {
    name: 'typing into the form',
    before: (window) => showView(window, 'run'),
    act: async ({ page }, repeat) => {
      await page.locator('[id="field-workload.steps"]').fill(String(40 + repeat))
    },
    answered: `$('[id="field-workload.steps"]').value.startsWith('4')`,
  },
]

/** @param {Opened} window @param {Interaction} interaction */
const measure = async (window, { name, answered, complete = 'true', act, before, after }) => {
  /** @type {Answer[]} */
  const answers = []
  for (let i = 0; i < REPEATS; i++) {
    await before?.(window, i)
    await quiet(window)
    answers.push(await shows(window, answered, complete, () => act(window, i)))
    await after?.(window)
  }
  const result = { name, ...answersOf(answers) }
  // Of what takes a quarter of an hour one wants to see how far it is.
  process.stderr.write(`${JSON.stringify(result)}\n`)
  return result
}

/** @param {Opened} window @param {readonly Interaction[]} interactions */
const measured = async (window, interactions) => {
  const results = []
  for (const interaction of interactions) results.push(await measure(window, interaction))
  return results
}

/**
 * The run of many spans must be shown, and the recorded one be the next of what is open.
 * @param {Opened} window
 */
export const measureAnswers = async (window) => {
  await window.page.evaluate('document.activeElement?.blur()')
  await showView(window, 'timeline')
  const large = await measured(window, [...FRAME, ...ofTimeline(), ...views()])
  await window.page.keyboard.press('Control+Tab')
  await quiet(window)
  const recorded = await measured(window, [...views(), ...ofRecorded()])
  const worst = [...large, ...recorded].map(({ answeredMs }) => answeredMs.worst)
  return {
    repeats: REPEATS,
    large,
    recorded,
    misses: [...large, ...recorded]
      .filter(({ answeredMs }) => answeredMs.worst >= BUDGET_MS)
      .map(({ name }) => name),
    answeredMs: aimed(quantile(worst, 1), BUDGET_MS),
  }
}
