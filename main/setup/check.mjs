// @ts-check
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { installModules } from './build-steps.mjs'
import { plainArguments, runScript, SetupError } from './report.mjs'
import { ROOT, run } from './shell.mjs'

const HELP = `
npm run check
Lint, format and types of everything, and the import rules between the rooms: biome, tsc (for the current Electron,
and for Electron 25), clang-format.`

const bin = (/** @type {string} */ name) => join(ROOT, 'node_modules', '.bin', name)

const nativeSources = () =>
  readdirSync(join(ROOT, 'native'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(cpp|h|cu|cuh)$/.test(file))
    .map((file) => join('native', file))

/** Every check; each runs whatever the others say. @returns {readonly (readonly [string, () => Promise<string>])[]} */
const checks = () => [
  ['biome', () => run(bin('biome'), ['check', '--error-on-warnings', '--max-diagnostics=50'])],
  ['tsc', () => run(bin('tsc'), ['-b'])],
  ['tsc for set-up', () => run(bin('tsc'), ['-p', 'main/setup'])],
  ['tsc for Electron 25', () => run(bin('tsc'), ['-p', 'main/tsconfig.electron25.json'])],
  [
    'clang-format',
    () =>
      run(process.execPath, [
        'node_modules/clang-format-node/build/cli.js',
        '--dry-run',
        '-Werror',
        ...nativeSources(),
      ]),
  ],
]

runScript(async () => {
  plainArguments(HELP, process.argv.slice(2))
  await installModules()
  const begin = performance.now()
  const done = await Promise.allSettled(checks().map(([, work]) => work()))
  const broken = done.flatMap((result, i) =>
    result.status === 'rejected' ? [`${checks()[i]?.[0]}: ${result.reason.message}`] : [],
  )
  if (broken.length > 0) throw new SetupError(`check failed\n${broken.join('\n\n')}`, 1)
  process.stdout.write(`check passed in ${((performance.now() - begin) / 1000).toFixed(1)} s\n`)
  return 0
})
