// @ts-check
import { buildAll } from './build-steps.mjs'
import { testDisplay } from './display.mjs'
import { packedForTests } from './package-app.mjs'
import { runScript } from './report.mjs'
import { runForeground } from './shell.mjs'
import { readyRuntime } from './window.mjs'

const HELP = `
npm run e2e [-- ARGUMENTS]
Runs the end-to-end tests in a real Electron, on a display of their own where there is none; with --packaged in the app as
npm run dist packages it. Other ARGUMENTS go to Playwright: a file name, -g TITLE, --headed and so on.`

runScript(async () => {
  const args = process.argv.slice(2)
  if (args.includes('--help')) {
    process.stdout.write(`${HELP.trim()}\n`)
    return 0
  }
  await buildAll()
  await readyRuntime()
  const packaged = args.includes('--packaged') ? { DCPSCOPE_E2E_APP: await packedForTests() } : {}
  const display = await testDisplay()
  const code = await runForeground(
    process.execPath,
    [
      'node_modules/playwright/cli.js',
      'test',
      '--config',
      'test/playwright.config.ts',
      ...args.filter((arg) => arg !== '--packaged'),
    ],
    { ...display.env, ...packaged },
  )
  display.close()
  return code
})
