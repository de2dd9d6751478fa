// @ts-check
/** The real app with a page of the reference size, and what is asked of it. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { _electron } from 'playwright'
import { ROOT } from '../store-library.mjs'
import { installProbe } from './probe.mjs'

export const CONTENT = { width: 1280, height: 800 }
export const PATIENCE_MS = 120_000

/** Electron that was made ready for this machine. @returns {{ path: string, version: string, source: string }} */
export const runtime = () => {
  const file = join(ROOT, 'build', 'electron-runtime.json')
  if (!existsSync(file)) throw new Error(`${file} is missing; run npm start or npm test once`)
  return JSON.parse(readFileSync(file, 'utf8'))
}

export const asRoot = process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : []

/** A start takes 1 to 3 s; software graphics on a busy machine rarely hang for good before the first window. */
const START_MS = 60_000

/** @param {Parameters<typeof _electron.launch>[0]} options */
const firstWindow = async (options) => {
  const app = await _electron.launch({ ...options, timeout: START_MS })
  return { app, page: await app.firstWindow({ timeout: START_MS }) }
}

/** The app is drawn before it opens what it was given. @param {import('playwright').Page} page @param {number} count */
const untilOpen = async (page, count) => {
  if (count === 0) return
  await page.waitForFunction((others) => {
    const text = document.querySelector('[data-testid="run-picker"]')?.textContent ?? 'No run open'
    const isThere = document.querySelector('[data-testid="top-status"]') !== null
    return isThere && !text.includes('No run open') && (others === 0 || text.includes(`+${others}`))
  }, count - 1)
}

/**
 * Starts the app with what it is to open; once more where it hangs. `folder` holds package.json and dist.
 * @param {string} scratch @param {readonly string[]} opened
 * @param {{ folder?: string, env?: Record<string, string> }} [options]
 */
export const openWindow = async (scratch, opened, { folder = ROOT, env = {} } = {}) => {
  const options = {
    executablePath: runtime().path,
    cwd: ROOT,
    args: [folder, ...opened, `--user-data-dir=${mkdtempSync(join(scratch, 'user-'))}`, ...asRoot],
    env: {
      .../** @type {Record<string, string>} */ (process.env),
      XDG_DATA_HOME: join(scratch, 'data'),
      ...env,
    },
  }
  const { app, page } = await firstWindow(options).catch(() => firstWindow(options))
  page.setDefaultTimeout(PATIENCE_MS)
  await app.evaluate(({ BrowserWindow }, size) => {
    BrowserWindow.getAllWindows()[0]?.setContentSize(size.width, size.height)
  }, CONTENT)
  await page.waitForSelector('[data-testid="top-status"], [data-testid="run-start"]')
  await untilOpen(page, opened.length)
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.evaluate(installProbe)
  return { app, page, cdp }
}

/** @typedef {Awaited<ReturnType<typeof openWindow>>} Opened */

/** @param {Opened} window @param {readonly string[]} wanted */
export const metrics = async ({ cdp }, wanted) => {
  const { metrics: all } = await cdp.send('Performance.getMetrics')
  return wanted.map((name) => all.find((metric) => metric.name === name)?.value ?? Number.NaN)
}

/** Heap of the page, in bytes. @param {Opened} window */
export const heapOf = async (window) => (await metrics(window, ['JSHeapUsedSize']))[0] ?? Number.NaN

/** Resident memory of each process, in bytes. @param {Opened} window @returns {Promise<Record<string, number>>} */
export const residentOf = async ({ app }) => {
  const all = await app.evaluate(({ app: electron }) =>
    electron.getAppMetrics().map(({ type, name, memory }) => ({
      name: type === 'Utility' ? (name ?? type) : type,
      bytes: memory.workingSetSize * 1024,
    })),
  )
  return Object.fromEntries(all.map(({ name, bytes }) => [name.replace(/^dcpscope-(\w+)-\d+$/, '$1'), bytes]))
}

/** Nothing is asked of the store any more, and the page has shown what came. @param {Opened} window */
export const quiet = ({ page }) => page.evaluate('window.bench.quiet()')

/** Shows a view by its place in the rail, and waits for what it asks. @param {Opened} window @param {string} view */
export const showView = async (window, view) => {
  await window.page.getByTestId(`view-${view}`).click()
  await quiet(window)
}

/** Frames while `act` goes on: times between them, and processor time of the page's main thread. @param {Opened} window @param {() => Promise<void>} act */
export const framesDuring = async (window, act) => {
  const [before = 0] = await metrics(window, ['ThreadTime'])
  await window.page.evaluate('window.bench.startFrames()')
  await act()
  /** @type {{ frames: number[], questions: Record<string, number> }} */
  const { frames, questions } = await window.page.evaluate('window.bench.takeFrames()')
  const [after = 0] = await metrics(window, ['ThreadTime'])
  return { frames, questions, threadMs: (after - before) * 1000 }
}
