// @ts-check
/**
 * From starting the process to the first contentful paint of the window, which is its frame, and to the first view
 * with what it is for; beside an app of one word.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../store-library.mjs'
import { aimed, quantile } from './figures.mjs'
import { asRoot, runtime } from './window.mjs'

const BUDGET_MS = 1500
/** The first start reads the files from disk; it is reported apart. */
const WARM_UP = 1
const SETTLE_MS = 500
/** Polling is coarse on purpose: the time is taken from the page's own entry, and asking costs it time. */
const POLL_MS = 250
const PATIENCE_MS = 30_000

/**
 * DevTools protocol over the pipes of `--remote-debugging-pipe`: JSON documents that end with a zero byte. A
 * refused call gives undefined: while the page comes up, some are.
 * @param {any} child
 */
const devtools = (child) => {
  const [, , , input, output] = child.stdio
  const waiting = new Map()
  let id = 0
  let text = ''
  output.on('data', (/** @type {Buffer} */ data) => {
    const messages = (text + data).split('\0')
    text = messages.pop() ?? ''
    for (const message of messages.map((part) => JSON.parse(part))) waiting.get(message.id)?.(message)
  })
  return (
    /** @type {string} */ method,
    params = {},
    /** @type {string | undefined} */ sessionId = undefined,
  ) =>
    new Promise((resolve, reject) => {
      waiting.set(++id, (/** @type {any} */ { result }) => resolve(result))
      child.once('exit', (/** @type {number} */ code) => reject(new Error(`Electron ended with ${code}`)))
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    })
}

/** Notes when the form of a run has been drawn; of an app without one, never. */
const WATCH_FORM = `new Promise((resolve) => {
  const shown = () => document.querySelector('[data-testid="run-start"]') !== null
  const drawn = () => requestAnimationFrame(() => setTimeout(() => resolve(performance.timeOrigin + performance.now())))
  if (shown()) return drawn()
  const observer = new MutationObserver(() => {
    if (!shown()) return
    observer.disconnect()
    drawn()
  })
  observer.observe(document, { childList: true, subtree: true })
})`

const FIRST_PAINT = `(() => {
  const entry = performance.getEntriesByName('first-contentful-paint')[0]
  return entry === undefined ? 0 : performance.timeOrigin + entry.startTime
})()`

/**
 * Epoch milliseconds of the first contentful paint of the only page, and, of our app, of the form.
 * @param {ReturnType<typeof devtools>} send @param {boolean} withForm
 */
const firstPaint = async (send, withForm) => {
  let session
  /** @type {Promise<any> | undefined} */
  let form
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    if (session === undefined) {
      const { targetInfos } = await send('Target.getTargets')
      const page = targetInfos.find((/** @type {any} */ { url }) => url.startsWith('app://'))
      if (page !== undefined)
        session = (await send('Target.attachToTarget', { targetId: page.targetId, flatten: true })).sessionId
    }
    if (session === undefined) continue
    const evaluation = { expression: FIRST_PAINT, returnByValue: true }
    const painted = await send('Runtime.evaluate', evaluation, session)
    if (painted === undefined) continue
    if (withForm)
      form ??= send(
        'Runtime.evaluate',
        { expression: WATCH_FORM, awaitPromise: true, returnByValue: true },
        session,
      )
    if (painted.result.value > 0)
      return { paint: painted.result.value, form: (await form)?.result.value ?? 0 }
  }
  throw new Error(`nothing was painted within ${PATIENCE_MS / 1000} s`)
}

/** Milliseconds from starting the process. @param {string} scratch @param {string} app its folder @param {boolean} withForm */
const launch = async (scratch, app, withForm) => {
  const started = Date.now()
  const child = spawn(
    runtime().path,
    [app, '--remote-debugging-pipe', `--user-data-dir=${join(scratch, 'first-paint')}`, ...asRoot],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: { ...process.env, XDG_DATA_HOME: join(scratch, 'no-runs') },
    },
  )
  const gone = once(child, 'exit')
  try {
    const { paint, form } = await firstPaint(devtools(child), withForm)
    return { paint: Math.round(paint - started), form: Math.round(form - started) }
  } finally {
    child.kill('SIGTERM')
    await gone
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  }
}

const BARE_MAIN = `const { app, BrowserWindow, protocol } = require('electron')
protocol.registerSchemesAsPrivileged([{ scheme: 'app', privileges: { standard: true, secure: true } }])
app.whenReady().then(() => {
  protocol.handle('app', () => new Response('<!doctype html>bare', { headers: { 'content-type': 'text/html' } }))
  new BrowserWindow({ width: 1280, height: 800 }).loadURL('app://bundle/')
})
`

/** An app that shows one word: what Electron itself takes on this machine. @param {string} scratch */
const bareApp = (scratch) => {
  const folder = join(scratch, 'bare')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'bare', version: '1.0.0', main: 'main.js' }),
  )
  writeFileSync(join(folder, 'main.js'), BARE_MAIN)
  return folder
}

/** Both in turn, so that what slows the machine slows both. @param {string} scratch @param {number} starts */
export const measureFirstPaint = async (scratch, starts) => {
  const folder = bareApp(scratch)
  const times = []
  const bare = []
  for (let i = 0; i < WARM_UP + starts; i++) {
    times.push(await launch(scratch, ROOT, true))
    bare.push((await launch(scratch, folder, false)).paint)
  }
  const warm = times.slice(WARM_UP).map(({ paint }) => paint)
  const forms = times.slice(WARM_UP).map(({ form }) => form)
  const median = quantile(warm, 0.5)
  const bareMedian = quantile(bare.slice(WARM_UP), 0.5)
  return {
    starts,
    firstStartMs: times[0]?.paint,
    bestMs: quantile(warm, 0),
    medianMs: aimed(median, BUDGET_MS),
    worstMs: quantile(warm, 1),
    bareElectronMedianMs: bareMedian,
    formMedianMs: quantile(forms, 0.5),
    formWorstMs: quantile(forms, 1),
    overBareElectron: Math.round((median / bareMedian) * 100) / 100,
  }
}
