import { bundlesOf, field, invoke, onlyBundle, query, showView, stateOf, waitReady } from './desk.ts'
import { expect, test } from './fixture.ts'

test('a wrong configuration shows the path and the rule, and cannot be started', async ({
  desk: { page, dataDir },
}) => {
  await waitReady(page, 'engine')
  await field(page, 'parallel.dcpSize').fill('3')
  const rule = 'must divide tpSize (4), got 3'
  await expect(page.getByTestId('form-issues')).toContainText('parallel.dcpSize')
  await expect(page.getByTestId('form-issues')).toContainText(rule)
  await expect(page.locator('[data-path="parallel.dcpSize"]').getByRole('alert').first()).toHaveText(rule)
  await expect(page.getByTestId('run-start')).toBeDisabled()
  await expect(page.getByTestId('start-reason')).not.toBeEmpty()

  await field(page, 'parallel.dcpSize').fill('4')
  await expect(page.getByTestId('form-issues')).toHaveCount(0)
  await expect(page.getByTestId('run-start')).toBeEnabled()
  expect(bundlesOf(dataDir)).toEqual([])
})

test('the configuration is copied as JSON that runs', async ({ desk: { app, page } }) => {
  await waitReady(page, 'engine')
  await field(page, 'workload.steps').fill('3')
  await page.getByTestId('copy-config').click()
  const copied = async (): Promise<string> => app.evaluate(async ({ clipboard }) => clipboard.readText())
  await expect.poll(copied).toContain('"steps": 3')
  expect(await invoke(page, 'startRun', { config: JSON.parse(await copied()) })).toMatchObject({ ok: true })
})

test('a sparse run over a quantised cache is set up in the form, passes its check and says what it read', async ({
  desk: { page, dataDir },
}) => {
  await waitReady(page, 'engine')
  await field(page, 'cache.kvDtype').selectOption('fp8_ds_mla')
  const workload = page.getByRole('region', { name: 'Workload' })
  await workload.getByRole('button', { name: /^more/ }).click()
  await field(page, 'workload.topk').fill('64')
  await field(page, 'workload.steps').fill('3')
  await page.getByTestId('run-start').click()
  await expect(page.getByTestId('run-status')).toHaveText('complete', { timeout: 30_000 })
  await expect(page.locator('.figure', { has: page.getByTestId('run-checked-rows') })).toContainText(
    'check passed',
  )

  const keys = await query(
    onlyBundle(dataDir),
    'SELECT visible_keys AS keys FROM rows WHERE step = 2 AND layer = 0 AND request = 0 ORDER BY rank',
  )
  const attended = keys.map((row) => Number(row.keys))
  expect(attended.reduce((sum, n) => sum + n, 0)).toBe(64)
  await showView(page, 'ownership')
  await expect(page.getByTestId('ownership-sparse')).toContainText('attends to 64 of these tokens at most')
  await expect(page.getByTestId('ownership-attended')).toHaveText(attended.join(' + '))
  await showView(page, 'merge')
  await expect(page.getByTestId('merge-note')).toContainText('top-k 64, fp8_ds_mla cache')
  for (const [rank, n] of attended.entries())
    await expect(page.getByTestId(`merge-rank-${rank}`).locator('td').first()).toHaveText(String(n))
})

test('the rest of a layer is a number of bytes or what the model has', async ({ desk: { page } }) => {
  await waitReady(page, 'engine')
  await page.getByTestId('preset').selectOption('deepseek-v3')
  const rest = field(page, 'engine.restOfLayer')
  const row = page.locator('[data-path="engine.restOfLayer"]')
  await expect(row).toContainText('off')
  await rest.selectOption('model')
  await expect(row).not.toContainText('bytes')
  await expect(page.getByTestId('form-issues')).toHaveCount(0)
  await rest.selectOption('number')
  const bytes = row.getByRole('textbox')
  await expect(bytes).toHaveValue('0')
  await bytes.fill('1e6')
  await expect(page.getByTestId('form-issues')).toHaveCount(0)
})

test('what needs a GPU cannot be chosen for the CPU, and a configuration that asks for it can be corrected', async ({
  desk: { page },
}) => {
  await waitReady(page, 'engine')
  await field(page, 'engine.device').getByRole('button', { name: 'cpu' }).click()
  for (const key of ['graph', 'observer', 'kernelTrace']) {
    await expect(field(page, `engine.${key}`)).toBeDisabled()
    await expect(page.locator(`[data-path="engine.${key}"]`)).toContainText('needs a GPU')
  }
  await page.getByTestId('import-config').click()
  await page
    .getByRole('textbox', { name: 'Configuration as JSON' })
    .fill('{"engine":{"device":"cpu","graph":true}}')
  await page.getByRole('button', { name: 'Use it' }).click()
  await expect(page.locator('[data-path="engine.graph"]').getByRole('alert')).toContainText('needs a GPU')
  await field(page, 'engine.graph').click()
  await expect(page.getByTestId('form-issues')).toHaveCount(0)
  await expect(field(page, 'engine.graph')).toBeDisabled()
})

test('the main process refuses what the form would not let through', async ({ desk: { page, dataDir } }) => {
  await waitReady(page, 'engine')
  for (const [config, path, message] of [
    [{ parallel: { tpSize: 6, dcpSize: 4 } }, 'parallel.dcpSize', 'must divide tpSize (6), got 4'],
    [
      { parallel: { interleave: 3 }, cache: { pageSize: 64 } },
      'parallel.interleave',
      'must divide pageSize (64), got 3',
    ],
    [{ model: { heads: 0 } }, 'model.heads', 'must be at least 1, got 0'],
    [{ workload: { requests: [{ contextLen: -5 }] } }, 'workload.requests[0].contextLen', 'must be at least'],
    [
      { workload: { requests: [{ contextLen: 1e12 }] } },
      'workload.requests[0].contextLen',
      'must be at most',
    ],
    [{ model: { headDim: 64 } }, 'model.headDim', 'goes with model.kvHeads'],
    [{ serving: { draft: 'x' } }, 'workload.qLen', 'a draft whose tokens nobody verifies is not supported'],
    [{ modell: {} }, 'modell', 'is not a known key'],
  ] as const) {
    const result = await invoke(page, 'startRun', { config })
    const issue = result.ok ? undefined : result.issues.find((candidate) => candidate.path === path)
    expect(issue?.message, path).toContain(message)
  }
  expect((await stateOf(page)).activeRun).toBeNull()
  expect(bundlesOf(dataDir)).toEqual([])
})

test('a run that would not fit into memory is refused with the numbers, and nothing is written', async ({
  desk: { page, dataDir },
}) => {
  await waitReady(page, 'engine')
  const requests = [{ contextLen: 1 << 24, count: 64 }]
  expect(await invoke(page, 'startRun', { config: { workload: { requests } } })).toMatchObject({ ok: true })
  await expect.poll(async () => (await stateOf(page)).lastRun?.status).toBe('failed')
  expect((await stateOf(page)).lastRun?.error).toMatch(/\d.*(GiB|MiB|GB|MB|bytes)/)
  expect(bundlesOf(dataDir)).toEqual([])
})
