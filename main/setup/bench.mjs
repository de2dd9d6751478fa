// @ts-check
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildAll } from './build-steps.mjs'
import { testDisplay } from './display.mjs'
import { runScript, SetupError, step } from './report.mjs'
import { ROOT, run } from './shell.mjs'
import { readyRuntime } from './window.mjs'

const FOLDER = join(ROOT, 'test', 'bench')
const names = () =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.bench.mjs'))
    .map((file) => file.replace('.bench.mjs', ''))

const HELP = `
npm run bench [-- NAME...]
Runs the benchmarks of test/bench (all, or the named ones) and prints one JSON document: a member each.
Names: ${names().join(', ')}`

runScript(async () => {
  const args = process.argv.slice(2)
  if (args.includes('--help')) {
    process.stdout.write(`${HELP.trim()}\n`)
    return 0
  }
  const unknown = args.find((name) => !names().includes(name))
  if (unknown !== undefined) throw new SetupError(`no benchmark ${unknown}; there are ${names().join(', ')}`)
  await buildAll()
  await readyRuntime()
  const display = await testDisplay()
  /** @type {Record<string, unknown>} */
  const results = {}
  for (const name of args.length > 0 ? args : names())
    results[name] = JSON.parse(
      await step(`benchmark ${name}`, () =>
        run(process.execPath, [join(FOLDER, `${name}.bench.mjs`)], { env: display.env, failure: name }),
      ),
    )
  display.close()
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
  return 0
})
