// @ts-check
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildAll } from './build-steps.mjs'
import { testDisplay } from './display.mjs'
import { plainArguments, runScript, say, step } from './report.mjs'
import { ROOT, runForeground } from './shell.mjs'
import { readyRuntime } from './window.mjs'

const HELP = `
npm test
Does all set-up and runs every test: check (lint, format, types, import rules), unit and native tests, end-to-end
tests in a real Electron. The last line counts them.`

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

const REPORTS = join(ROOT, 'test-results')

/** @param {string} name */
const reportOf = (name) => {
  const file = join(REPORTS, `${name}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/**
 * Counts of a suite; one that ended badly, left no report or ran nothing counts as a failure of its own.
 * @param {string} name @param {number} code @param {Counts | undefined} counts @returns {Counts}
 */
const judged = (name, code, counts) => {
  if (counts === undefined) {
    say(`${name}: left no report (exit ${code})`)
    return { passed: 0, failed: 1, skipped: 0 }
  }
  if (counts.passed + counts.failed === 0) {
    say(`${name}: ran no test`)
    return { ...counts, failed: 1 }
  }
  if (code !== 0 && counts.failed === 0) {
    say(`${name}: ended with ${code} although no test failed`)
    return { ...counts, failed: 1 }
  }
  return counts
}

/** @returns {Promise<Counts>} */
const check = async () => {
  const code = await runForeground(process.execPath, ['main/setup/check.mjs'])
  return judged(
    'check',
    code,
    code === 0 ? { passed: 1, failed: 0, skipped: 0 } : { passed: 0, failed: 1, skipped: 0 },
  )
}

/** @returns {Promise<Counts>} */
const unitTests = async () => {
  const code = await runForeground(process.execPath, [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'test/vitest.config.mts',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${join(REPORTS, 'unit.json')}`,
  ])
  const report = reportOf('unit')
  return judged(
    'unit and native tests',
    code,
    report && {
      passed: report.numPassedTests,
      failed: report.numFailedTests,
      skipped: report.numPendingTests + report.numTodoTests,
    },
  )
}

/** @returns {Promise<Counts>} */
const endToEndTests = async () => {
  await readyRuntime()
  const display = await testDisplay()
  const env = { ...display.env, DCPSCOPE_REPORT: join(REPORTS, 'e2e.json') }
  const code = await runForeground(
    process.execPath,
    ['node_modules/playwright/cli.js', 'test', '--config', 'test/playwright.config.ts'],
    env,
  )
  display.close()
  const stats = reportOf('e2e')?.stats
  return judged(
    'end-to-end tests',
    code,
    stats && { passed: stats.expected + stats.flaky, failed: stats.unexpected, skipped: stats.skipped },
  )
}

runScript(async () => {
  plainArguments(HELP, process.argv.slice(2))
  rmSync(REPORTS, { recursive: true, force: true })
  mkdirSync(REPORTS, { recursive: true })
  await buildAll()
  /** @type {Counts[]} */
  const all = []
  all.push(await step('check', check))
  all.push(await step('unit and native tests', unitTests))
  all.push(await step('end-to-end tests', endToEndTests))
  const sum = (/** @type {keyof Counts} */ key) => all.reduce((total, counts) => total + counts[key], 0)
  process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`)
  return sum('failed') === 0 ? 0 : 1
})
