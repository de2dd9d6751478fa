/**
 * From starting the process to the first contentful paint of the window, warm disk. Prints one JSON document.
 * `node test/bench/desktop.bench.mjs [RUNS]`; needs a display and what `npm run build` makes.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const BUDGET_MS = 1500
/** The first start reads the files from disk; it is reported apart. */
const WARM_UP = 1
const SETTLE_MS = 500

const fail = (sentence) => {
  process.stderr.write(`desktop.bench: ${sentence}\n`)
  process.exit(2)
}

const runtimePath = () => {
  const file = join(ROOT, 'build', 'electron-runtime.json')
  if (!existsSync(file)) fail(`${file} is missing; run npm start or npm test once`)
  return JSON.parse(readFileSync(file, 'utf8'))
}

/**
 * DevTools protocol over the pipes of `--remote-debugging-pipe`: JSON documents that end with a zero byte. A
 * refused call gives undefined: while the page comes up, some are.
 */
const devtools = (child) => {
  const [, , , input, output] = child.stdio
  const waiting = new Map()
  let id = 0
  let text = ''
  output.on('data', (data) => {
    const messages = (text + data).split('\0')
    text = messages.pop() ?? ''
    for (const message of messages.map((part) => JSON.parse(part))) waiting.get(message.id)?.(message)
  })
  return (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      waiting.set(++id, ({ result }) => resolve(result))
      child.once('exit', (code) => reject(new Error(`Electron ended with ${code}`)))
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    })
}

const FIRST_PAINT = `(() => {
  const entry = performance.getEntriesByName('first-contentful-paint')[0]
  return entry === undefined ? 0 : performance.timeOrigin + entry.startTime
})()`

/** Polling is coarse on purpose: the time is taken from the page's own entry, and asking costs it time. */
const POLL_MS = 250
const PATIENCE_MS = 30_000

/** Epoch milliseconds of the first contentful paint of the only page. */
const firstPaint = async (send) => {
  let session
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    if (session === undefined) {
      const page = (await send('Target.getTargets')).targetInfos.find(({ url }) => url.startsWith('app://'))
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

const launch = async (electron, data) => {
  const started = Date.now()
  const child = spawn(
    electron,
    [
      ROOT,
      '--remote-debugging-pipe',
      `--user-data-dir=${join(data, 'user')}`,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: { ...process.env, XDG_DATA_HOME: join(data, 'data') },
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

const runs = Number(process.argv[2] ?? 10)
if (!Number.isInteger(runs) || runs < 1)
  fail(`the number of runs must be a positive integer, got ${process.argv[2]}`)
if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY)
  fail('a window needs a display; start one (Xvfb :9 &) and set DISPLAY')

const runtime = runtimePath()
const data = mkdtempSync(join(tmpdir(), 'dcpscope-bench-'))
const times = []
for (let i = 0; i < WARM_UP + runs; i++) times.push(Math.round(await launch(runtime.path, data)))
rmSync(data, { recursive: true, force: true })

const warm = times.slice(WARM_UP).sort((a, b) => a - b)
const at = (share) => warm[Math.min(warm.length - 1, Math.floor(share * warm.length))]
const median = at(0.5)
process.stdout.write(
  `${JSON.stringify({
    bench: 'desktop',
    electron: { version: runtime.version, source: runtime.source },
    runs,
    firstStartMs: times[0],
    firstPaintMs: { min: warm[0], median, p95: at(0.95), max: warm.at(-1) },
    budgetMs: BUDGET_MS,
    ok: median < BUDGET_MS,
  })}\n`,
)
