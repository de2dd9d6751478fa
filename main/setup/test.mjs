// @ts-check
import { buildAll } from './build-steps.mjs'
import { testDisplay } from './display.mjs'
import { gpuEnvironment } from './gpu.mjs'
import { plainArguments, runScript, step } from './report.mjs'
import { runForeground } from './shell.mjs'
import { clearReports, conclude, judged, reportFile, reportOf, vitest } from './suites.mjs'
import { readyRuntime } from './window.mjs'

const HELP = `
npm test
Does all set-up and runs every test: check (lint, format, types, import rules), unit and native tests, those on a GPU
where there is one, end-to-end tests in a real Electron. The last line counts them.`

const check = async () => {
  const code = await runForeground(process.execPath, ['main/setup/check.mjs'])
  return judged(
    'check',
    code,
    code === 0 ? { passed: 1, failed: 0, skipped: 0 } : { passed: 0, failed: 1, skipped: 0 },
  )
}

const endToEndTests = async () => {
  await readyRuntime()
  const display = await testDisplay()
  const env = { ...display.env, DCPSCOPE_REPORT: reportFile('e2e') }
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
  clearReports()
  await buildAll()
  const gpu = await gpuEnvironment()
  return conclude([
    await step('check', check),
    await step('unit and native tests', () => vitest('unit and native tests', 'unit', [], gpu)),
    await step('end-to-end tests', endToEndTests),
  ])
})
