// @ts-check
/** From starting the process to the first contentful paint of the window, beside an app of one word. */
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

const FIRST_PAINT = `(() => {
  const entry = performance.getEntriesByName('first-contentful-paint')[0]
  return entry === undefined ? 0 : performance.timeOrigin + entry.startTime
})()`

/** Epoch milliseconds of the first contentful paint of the only page. @param {ReturnType<typeof devtools>} send */
const firstPaint = async (send) => {
  let session
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
    if (painted?.result.value > 0) return painted.result.value
  }
  throw new Error(`nothing was painted within ${PATIENCE_MS / 1000} s`)
}

/** @param {string} scratch @param {string} app its folder */
const launch = async (scratch, app) => {
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
    return (await firstPaint(devtools(child))) - started
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
  const [times, bare] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])]
  for (let i = 0; i < WARM_UP + starts; i++) {
    times.push(Math.round(await launch(scratch, ROOT)))
    bare.push(Math.round(await launch(scratch, folder)))
  }
  const warm = times.slice(WARM_UP)
  const median = quantile(warm, 0.5)
  const bareMedian = quantile(bare.slice(WARM_UP), 0.5)
  return {
    starts,
    firstStartMs: times[0],
    bestMs: quantile(warm, 0),
    medianMs: aimed(median, BUDGET_MS),
    worstMs: quantile(warm, 1),
    bareElectronMedianMs: bareMedian,
    overBareElectron: Math.round((median / bareMedian) * 100) / 100,
  }
}
