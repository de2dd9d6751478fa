// @ts-check
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildAll } from './build-steps.mjs'
import { testDisplay } from './display.mjs'
import { readyGpuPrograms, whyNoGpu } from './gpu.mjs'
import { runScript, SetupError, say, step } from './report.mjs'
import { ROOT, run, runForeground } from './shell.mjs'
import { readyRuntime } from './window.mjs'

const FOLDER = join(ROOT, 'test', 'bench')
const names = () =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.bench.mjs'))
    .map((file) => file.replace('.bench.mjs', ''))

const HELP = `
npm run bench [-- NAME...]
Runs the benchmarks of test/bench (all, or the named ones) and prints one JSON document: a member each.
Names: ${names().join(', ')}
npm run bench -- ui
The window, with a live run of ten minutes: some 25 minutes. Environment: UI_BENCH_PARTS (of firstPaint, timeline, scrubbing,
ownership, answers, live), UI_BENCH_SPANS, UI_BENCH_STEPS, UI_BENCH_LIVE_MINUTES.
npm run bench -- gpu [ARGUMENTS]
The GPU kernels alone, without a window; ARGUMENTS as "npm run bench -- gpu --help" says.
npm run bench -- comm [ARGUMENTS]
The transports between ranks with a GPU each; ARGUMENTS as "npm run bench -- comm --help" says.`

/** @param {string} name */
const scriptOf = (name) => join(FOLDER, `${name}.bench.mjs`)

/** Needs neither npm packages nor Electron. @param {readonly string[]} args */
const benchGpu = async (args) => {
  // What was measured elsewhere is only looked at.
  const reads = args.some((arg) => /^(--input|--help|-h)\b/.test(arg))
  const reason = reads ? undefined : await readyGpuPrograms()
  if (reason !== undefined) throw new SetupError(reason, 3)
  return runForeground(process.execPath, [scriptOf('gpu'), ...args])
}

/** Runs the command line, so that is built; needs no Electron. @param {readonly string[]} args */
const benchComm = async (args) => {
  if (!args.some((arg) => /^(--help|-h)$/.test(arg))) {
    const reason = isOnCpu(args) ? undefined : await readyGpuPrograms()
    if (reason !== undefined) throw new SetupError(reason, 3)
    await buildAll()
  }
  return runForeground(process.execPath, [scriptOf('comm'), ...args])
}

/** @param {readonly string[]} args */
const isOnCpu = (args) => args.includes('--device=cpu') || args[args.indexOf('--device') + 1] === 'cpu'

const OF_GPUS = ['gpu', 'comm']

/** Those of no argument: the ones of GPUs only where there is one. */
const all = () => {
  const reason = whyNoGpu()
  if (reason === undefined) return names()
  say(`the benchmarks ${OF_GPUS.join(' and ')} are left out: ${reason}`)
  return names().filter((name) => !OF_GPUS.includes(name))
}

runScript(async () => {
  const args = process.argv.slice(2)
  if (args[0] === 'gpu') return benchGpu(args.slice(1))
  if (args[0] === 'comm') return benchComm(args.slice(1))
  if (args.includes('--help')) {
    process.stdout.write(`${HELP.trim()}\n`)
    return 0
  }
  const unknown = args.find((name) => !names().includes(name))
  if (unknown !== undefined) throw new SetupError(`no benchmark ${unknown}; there are ${names().join(', ')}`)
  const chosen = args.length > 0 ? args : all()
  await buildAll()
  if (chosen.some((name) => OF_GPUS.includes(name))) await readyGpuPrograms()
  await readyRuntime()
  const display = await testDisplay()
  /** @type {Record<string, unknown>} */
  const results = {}
  for (const name of chosen)
    results[name] = JSON.parse(
      await step(`benchmark ${name}`, () =>
        run(process.execPath, [scriptOf(name)], { env: display.env, failure: name }),
      ),
    )
  display.close()
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
  return 0
})
