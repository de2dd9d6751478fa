import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElectronApplication, Locator, Page } from 'playwright'
import { groupTop, lanesOf, laneTop } from '../../renderer/views/timeline/lanes.ts'
import { field, showView, stateOf, waitReady, wheelIn } from './desk.ts'
import { expect, test } from './fixture.ts'
import { EMULATED, RANKS, STEPS, TIME_SLICED, writeGpuBundle } from './gpu-bundle.ts'
import { launch } from './launch.ts'

const data = mkdtempSync(join(tmpdir(), 'dcpscope-gpu-'))
test.beforeAll(() => writeGpuBundle(data))
test.afterAll(() => rmSync(data, { recursive: true, force: true }))

/** Opens the bundle of a GPU run in a window of its own and closes the window afterwards. */
const withGpuRun = async (
  look: (page: Page, app: ElectronApplication) => Promise<void>,
  dataDir = data,
): Promise<void> => {
  const { app, page, close, errors } = await launch({ dataDir })
  try {
    await waitReady(page, 'store')
    await page.getByTestId('run-item').first().click()
    await expect(page.getByTestId('run-steps')).toHaveText(String(STEPS))
    await look(page, app)
    expect(errors).toEqual([])
  } finally {
    await close()
  }
}

/** Row of a section of the inspector. */
const rowOf = (section: Locator, label: string): Locator =>
  section.locator('.inspector-row', {
    has: section.page().locator('dt', { hasText: new RegExp(`^${label}$`) }),
  })

test('a run of ranks that took turns on one GPU says in every view what was emulated', async () => {
  await withGpuRun(async (page) => {
    await expect(page.getByTestId('run-caveat')).toContainText(EMULATED)
    for (const figure of ['run-tokens-per-s', 'run-step-ms'])
      await expect(page.locator('.figure', { has: page.getByTestId(figure) })).toContainText('emulated')
    const device = page.locator('.figure', { has: page.getByTestId('run-device-ms') })
    await expect(device).toContainText('3.80')
    await expect(device).not.toContainText('emulated')
    await expect(page.getByTestId('run-observer-cost')).toHaveText(/\+0\.4/)

    const rows = page.getByTestId('stage-table').locator('tbody tr')
    for (const stage of ['q_all_gather', 'lse_all_gather', 'out_reduce_scatter'])
      await expect(rows.filter({ hasText: stage })).toContainText('emulated')
    await expect(rows.filter({ hasText: 'decode_attn' })).not.toContainText('emulated')

    const inspector = page.getByTestId('inspector')
    await expect(inspector.getByRole('region', { name: 'Run' })).toContainText(EMULATED)
    await page.getByTestId('step-range').focus()
    await page.keyboard.press('Home')
    const step = inspector.getByRole('region', { name: 'Step' })
    for (const [label, text] of [
      ['duration', 'emulated'],
      ['throughput', 'emulated'],
      ['device', '3.80'],
      ['graph', 'replayed'],
    ] as const)
      await expect(rowOf(step, label)).toContainText(text)

    for (const view of ['timeline', 'ownership', 'merge'] as const) {
      await showView(page, view)
      await expect(page.locator('.topbar').getByTestId('caveat-note')).toBeVisible()
    }
    await showView(page, 'timeline')
    await expect(page.locator('.timeline-toolbar').getByTestId('caveat-note')).toHaveAttribute(
      'title',
      EMULATED,
    )
    const legend = page.locator('.timeline-legend')
    await expect(legend.getByRole('button', { name: 'lse_all_gather' })).toContainText('emulated')
    await expect(legend.getByRole('button', { name: 'decode_attn' })).not.toContainText('emulated')
  })
})

test('a run of ranks whose processes shared a GPU says time-sliced beside every time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-gpu-'))
  try {
    await writeGpuBundle(folder, { sharing: 'time-sliced' })
    await withGpuRun(async (page) => {
      await expect(page.getByTestId('run-caveat')).toContainText(TIME_SLICED)
      for (const figure of ['run-tokens-per-s', 'run-step-ms'])
        await expect(page.locator('.figure', { has: page.getByTestId(figure) })).toContainText('time-sliced')
      for (const row of await page.getByTestId('stage-table').locator('tbody tr').all())
        await expect(row).toContainText('time-sliced')
      await showView(page, 'timeline')
      await expect(page.locator('.timeline-toolbar').getByTestId('caveat-note')).toHaveAttribute(
        'title',
        TIME_SLICED,
      )
      const legend = page.locator('.timeline-legend')
      await expect(legend.getByRole('button', { name: 'decode_attn' })).toContainText('time-sliced')
    }, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the cards of spans and of a graph replay say what is emulated, and a copy takes it along', async () => {
  await withGpuRun(async (page, app) => {
    await showView(page, 'timeline')
    const canvas = page.getByTestId('timeline-canvas')
    const box = await canvas.boundingBox()
    if (box === null) throw new Error('the timeline has no box')
    const lanes = lanesOf(box.height, RANKS, 0, false, { replays: true })
    const y = box.y + laneTop(1, lanes) + lanes.laneHeight / 2
    const card = page.getByTestId('timeline-card')
    const x = box.x + lanes.labelWidth + 10
    await page.mouse.move(x, y)
    await expect(card).toContainText('decode_attn')
    await expect(card).toContainText('emulated')

    await page.mouse.move(x, box.y + groupTop(1, lanes) + 5)
    await expect(card).toContainText('graph_replay')
    await page.mouse.move(x, y)

    await wheelIn(page, 7)
    await page.mouse.click(x, y)
    const span = page.getByTestId('inspector').getByRole('region', { name: 'Span' })
    await expect(rowOf(span, 'stage')).toContainText('decode_attn')
    await expect(rowOf(span, 'duration')).not.toContainText('emulated')
    await expect(rowOf(span, 'start')).toContainText('emulated')
    for (const stage of ['neutralize', 'lse_all_gather']) {
      await page.keyboard.press('Period')
      await expect(rowOf(span, 'stage')).toContainText(stage)
    }
    await expect(rowOf(span, 'duration')).toContainText('emulated')
    await rowOf(span, 'duration').hover()
    await rowOf(span, 'duration').getByRole('button').click()
    await expect.poll(() => app.evaluate(({ clipboard }) => clipboard.readText())).toBe('4000 (emulated)')
  })
})

test('a device that this machine does not have cannot be chosen, and the form says why', async ({
  desk: { page },
}) => {
  await expect.poll(async () => (await stateOf(page)).machine?.cuda).toBeDefined()
  const found = (await stateOf(page)).machine?.cuda
  const cuda = field(page, 'engine.device').getByRole('button', { name: 'cuda' })
  if (found?.available === true) await expect(cuda).toBeEnabled()
  else {
    await expect(cuda).toBeDisabled()
    await expect(page.getByTestId('barred-cuda')).toHaveText(`cuda is not possible: ${found?.reason}`)
  }
})

test('the memory of the run is predicted by component before it starts', async ({ desk: { page } }) => {
  await waitReady(page, 'engine')
  const panel = page.getByTestId('memory-prediction')
  await expect(panel).toContainText('predicted')
  await expect(panel.getByTestId('memory-components').locator('dd').first()).toHaveText(/\d.*B$/)
  await expect(panel.getByTestId('memory-verdict')).toContainText(/of .* free/)
  await field(page, 'workload.requests[0].contextLen').fill('16777216')
  await field(page, 'workload.requests[0].count').fill('64')
  await expect(panel).toContainText('does not fit')
})
