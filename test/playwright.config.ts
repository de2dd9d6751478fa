import { defineConfig } from 'playwright/test'

export default defineConfig({
  testDir: 'e2e',
  outputDir: '../test-results/e2e',
  // Each test starts an Electron with four processes of its own; two cores carry one at a time.
  workers: 1,
  timeout: 90_000,
  // A machine that also compiles answers late; what never comes still fails.
  expect: { timeout: 15_000 },
  retries: 0,
  forbidOnly: true,
  reporter:
    process.env.DCPSCOPE_REPORT === undefined
      ? 'list'
      : [['list'], ['json', { outputFile: process.env.DCPSCOPE_REPORT }]],
})
