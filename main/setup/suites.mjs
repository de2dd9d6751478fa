// @ts-check
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { say } from './report.mjs'
import { ROOT, runForeground } from './shell.mjs'

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

const REPORTS = join(ROOT, 'test-results')

/** Removes what earlier suites reported. */
export const clearReports = () => {
  rmSync(REPORTS, { recursive: true, force: true })
  mkdirSync(REPORTS, { recursive: true })
}

/** File into which a suite reports. @param {string} name */
export const reportFile = (name) => join(REPORTS, `${name}.json`)

/** @param {string} name */
export const reportOf = (name) => {
  const file = reportFile(name)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/**
 * Counts of a suite; one that ended badly, left no report or ran nothing counts as a failure of its own.
 * @param {string} name @param {number} code @param {Counts | undefined} counts
 * @param {{ mayRunNone?: boolean }} [options] @returns {Counts}
 */
export const judged = (name, code, counts, { mayRunNone = false } = {}) => {
  if (counts === undefined) {
    say(`${name}: left no report (exit ${code})`)
    return { passed: 0, failed: 1, skipped: 0 }
  }
  if (counts.passed + counts.failed === 0 && !mayRunNone) {
    say(`${name}: ran no test`)
    return { ...counts, failed: 1 }
  }
  if (code !== 0 && counts.failed === 0) {
    say(`${name}: ended with ${code} although no test failed`)
    return { ...counts, failed: 1 }
  }
  return counts
}

/**
 * Runs vitest and counts its tests.
 * @param {string} name in messages @param {string} report name of its report
 * @param {readonly string[]} args @param {Readonly<Record<string, string>>} env
 * @param {{ mayRunNone?: boolean }} [options]
 */
export const vitest = async (name, report, args, env, options) => {
  const code = await runForeground(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config',
      'test/vitest.config.mts',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${reportFile(report)}`,
      ...args,
    ],
    { ...process.env, ...env },
  )
  const found = reportOf(report)
  return judged(
    name,
    code,
    found && {
      passed: found.numPassedTests,
      failed: found.numFailedTests,
      skipped: found.numPendingTests + found.numTodoTests,
    },
    options,
  )
}

/** The line that ends a test command, and its exit code. @param {readonly Counts[]} all */
export const conclude = (all) => {
  const sum = (/** @type {keyof Counts} */ key) => all.reduce((total, counts) => total + counts[key], 0)
  process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`)
  return sum('failed') === 0 ? 0 : 1
}
