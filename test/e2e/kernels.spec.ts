import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright'
import { kernelTop, lanesOf, laneTop } from '../../renderer/views/timeline/lanes.ts'
import { showView, waitReady, wheelIn } from './desk.ts'
import { expect, test } from './fixture.ts'
import { KERNEL, KERNEL_STEP, RANKS, STEPS, writeGpuBundle } from './gpu-bundle.ts'
import { launch } from './launch.ts'

const data = mkdtempSync(join(tmpdir(), 'dcpscope-kernels-'))
test.beforeAll(() => writeGpuBundle(data, { kernels: true }))
test.afterAll(() => rmSync(data, { recursive: true, force: true }))

const rowOf = (section: Locator, label: string): Locator =>
  section.locator('.inspector-row', {
    has: section.page().locator('dt', { hasText: new RegExp(`^${label}$`) }),
  })

/** Colours that differ along a line of pixels of the canvas, in CSS pixels. */
const coloursOn = (page: Page, y: number, fromX: number, toX: number): Promise<number> =>
  page.getByTestId('timeline-canvas').evaluate(
    (canvas: HTMLCanvasElement, [y, fromX, toX]) => {
      const scale = window.devicePixelRatio
      const copy = document.createElement('canvas')
      copy.width = Math.round(canvas.clientWidth * scale)
      copy.height = Math.round(canvas.clientHeight * scale)
      const pen = copy.getContext('2d') as CanvasRenderingContext2D
      // The page does not own the pixels of this canvas.
      pen.drawImage(canvas, 0, 0)
      const { data } = pen.getImageData(
        Math.round(fromX * scale),
        Math.round(y * scale),
        Math.round((toX - fromX) * scale),
        1,
      )
      const seen = new Set<string>()
      for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 3).join())
      return seen.size
    },
    [y, fromX, toX] as const,
  )

test('the recorded kernels of a step lie in a lane under their rank, with name, card and inspector', async () => {
  const { page, close, errors } = await launch({ dataDir: data })
  try {
    await waitReady(page, 'store')
    await page.getByTestId('run-item').first().click()
    await expect(page.getByTestId('run-steps')).toHaveText(String(STEPS))

    const run = page.getByTestId('inspector').getByRole('region', { name: 'Run' })
    await expect(rowOf(run, 'kernels')).toContainText('32')
    await expect(rowOf(run, 'kernels')).toContainText('1 step, not counted above')
    await expect(page.locator('.figure', { has: page.getByTestId('run-device-ms') })).toContainText('3.80')
    await page.getByTestId('step-range').focus()
    // The scrubber stands at the end already, which selects nothing.
    for (const key of ['Home', 'End']) await page.keyboard.press(key)
    const step = page.getByTestId('inspector').getByRole('region', { name: 'Step' })
    await expect(rowOf(step, 'kernels')).toContainText('CUPTI was on')

    await showView(page, 'timeline')
    const box = await page.getByTestId('timeline-canvas').boundingBox()
    if (box === null) throw new Error('the timeline has no box')
    const lanes = lanesOf(box.height, RANKS, 0, true, { replays: true })
    const [left, right] = [lanes.labelWidth + 2, box.width - 2]
    const y = kernelTop(1, lanes) + lanes.kernelHeight / 2

    // Only the last step was recorded; its spans end the run.
    const plot = box.width - lanes.labelWidth
    const wholeNs = (STEPS - 1) * 1_000_000 + 400_000
    const xOf = (ns: number): number => lanes.labelWidth + (plot * ns) / wholeNs
    await expect.poll(() => coloursOn(page, y, xOf(KERNEL_STEP * 1_000_000), right)).toBeGreaterThan(1)
    expect(
      await coloursOn(page, y + 5, left, xOf((KERNEL_STEP - 1) * 1_000_000 + 900_000)),
    ).toBeLessThanOrEqual(3)

    // Layer 2 of the step, in the middle of its attention.
    const x = box.x + xOf(KERNEL_STEP * 1_000_000 + 2 * 100_000 + 30_000)
    await page.mouse.move(x, box.y + y)
    await wheelIn(page, 14)
    const card = page.getByTestId('timeline-card')
    await page.mouse.move(x + 1, box.y + y)
    await expect(card).toContainText('attend')
    await expect(card).toContainText('384 × 1 × 1')
    const place = await card.boundingBox()
    expect(place?.y).toBeGreaterThanOrEqual(box.y)
    expect((place?.y ?? 0) + (place?.height ?? 0)).toBeLessThanOrEqual(box.y + box.height)

    await page.mouse.click(x, box.y + y)
    const kernel = page.getByTestId('inspector').getByRole('region', { name: 'Kernel' })
    for (const [label, text] of [
      ['kernel', 'attend'],
      ['full name', KERNEL],
      ['stage', 'decode_attn'],
      ['rank', '1'],
      ['layer', '2'],
      ['grid', '132 × 1 × 1'],
      ['registers', '168'],
      ['shared memory', '224'],
      ['graph', 'replayed'],
    ] as const)
      await expect(rowOf(kernel, label)).toContainText(text)
    await expect(rowOf(kernel, 'start')).toContainText('emulated')
    await expect(rowOf(kernel, 'duration')).not.toContainText('emulated')

    await page.mouse.click(x, box.y + laneTop(1, lanes) + lanes.laneHeight / 2)
    await expect(kernel).toHaveCount(0)
    await expect(page.getByTestId('inspector').getByRole('region', { name: 'Span' })).toContainText(
      'decode_attn',
    )
    expect(errors).toEqual([])
  } finally {
    await close()
  }
})
