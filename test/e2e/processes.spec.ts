import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright'
import {
  bundlesOf,
  field,
  manifestOf,
  numbers,
  onlyBundle,
  pidOf,
  runDefault,
  showView,
  stateOf,
  waitReady,
} from './desk.ts'
import { expect, test } from './fixture.ts'

const startLongRun = async (page: Page, dataDir: string): Promise<void> => {
  await waitReady(page, 'engine')
  // Long enough to be killed in its middle.
  await field(page, 'workload.steps').fill('20000')
  await page.getByTestId('run-start').click()
  await expect(page.getByTestId('run-status')).toHaveText('running')
  // Two closed parts: the middle of a run.
  await expect
    .poll(() => bundlesOf(dataDir).map((bundle) => partsOf(bundle, 'steps') > 1), { timeout: 20_000 })
    .toEqual([true])
}

/** Closed Parquet parts of a table. */
const partsOf = (bundle: string, table: string): number => {
  const folder = join(bundle, table)
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.parquet')).length : 0
}

const killed = async (page: Page, process_: 'engine' | 'store'): Promise<void> => {
  process.kill(await pidOf(page, process_), 'SIGKILL')
  await expect(page.getByTestId(`crash-${process_}`)).toBeVisible()
}

const expectReadable = async (bundle: string): Promise<void> => {
  const { steps = 0, spans = 0 } = await numbers(
    bundle,
    'SELECT (SELECT count(*) FROM steps) AS steps, (SELECT count(*) FROM spans) AS spans',
  )
  expect(steps).toBeGreaterThan(0)
  expect(spans).toBeGreaterThan(steps)
}

const expectNewRunCompletes = async (page: Page, dataDir: string): Promise<void> => {
  await showView(page, 'run')
  await field(page, 'workload.steps').fill('24')
  await page.getByTestId('run-start').click()
  await expect(page.getByTestId('run-status')).toHaveText('complete', { timeout: 30_000 })
  await expect.poll(async () => (await stateOf(page)).lastRun?.status, { timeout: 30_000 }).toBe('complete')
  const statuses = bundlesOf(dataDir).map((bundle) => manifestOf(bundle).status)
  expect(statuses.sort()).toEqual(['complete', 'interrupted'])
}

test('SIGKILL of the engine leaves app and bundle, and a restart runs again', async ({ desk }) => {
  const { page, dataDir } = desk
  await startLongRun(page, dataDir)
  const bundle = onlyBundle(dataDir)
  await killed(page, 'engine')
  await expect(page.getByTestId('crash-engine')).toContainText('interrupted')
  await expect.poll(() => manifestOf(bundle).status).toBe('interrupted')
  await expect(page.getByTestId('run-status')).toHaveText('interrupted')
  await expectReadable(bundle)
  expect((await stateOf(page)).store.status).toBe('ready')
  await page.getByTestId('restart-engine').click()
  await waitReady(page, 'engine')
  await expect(page.getByTestId('crash-engine')).toHaveCount(0)
  await expectNewRunCompletes(page, dataDir)
})

test('SIGKILL of the store leaves app and bundle, and a restart shows and runs again', async ({ desk }) => {
  const { page, dataDir } = desk
  await startLongRun(page, dataDir)
  const bundle = onlyBundle(dataDir)
  await killed(page, 'store')
  await expect(page.getByTestId('crash-store')).toContainText('interrupted')
  // Marked at once by the main process: no store is there to do it.
  expect(manifestOf(bundle).status).toBe('interrupted')
  await expectReadable(bundle)
  await page.getByTestId('restart-store').click()
  await waitReady(page, 'store')
  await expect(page.getByTestId('crash-store')).toHaveCount(0)
  // The open run is found again and shown with what was kept.
  await expect(page.getByTestId('run-status')).toHaveText('interrupted')
  await expect(page.getByTestId('run-steps')).not.toHaveText('0')
  await expectNewRunCompletes(page, dataDir)
})

test('the engine may die between runs and lose nothing', async ({ desk }) => {
  const { page, dataDir } = desk
  await runDefault(page)
  await killed(page, 'engine')
  await expect(page.getByTestId('crash-engine')).toContainText('nothing is lost')
  expect(manifestOf(onlyBundle(dataDir)).status).toBe('complete')
})
