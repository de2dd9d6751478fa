import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { showView, waitReady } from './desk.ts'
import { expect, test } from './fixture.ts'
import { launch } from './launch.ts'
import { readOnly } from './read-only.ts'
import { writeSlowBundle } from './slow-bundle.ts'

const TEXT = 'Who is late here?'

test('a note on a bundle that cannot be written to is refused in one sentence, not lost, and can be copied', async () => {
  const data = mkdtempSync(join(tmpdir(), 'dcpscope-read-only-'))
  const bundle = await writeSlowBundle(data)
  const writable = readOnly(bundle)
  test.skip(writable === undefined, 'nothing here makes a folder read-only: neither mount nor chattr may')
  try {
    const { app, page, close, errors } = await launch({ dataDir: data })
    try {
      await waitReady(page, 'store')
      await page.getByTestId('run-item').first().click()
      await showView(page, 'timeline')
      await page.getByTestId('timeline-canvas').focus()
      // The first key after the start may come before the spans do.
      const selected = page.getByTestId('inspector').getByRole('region', { name: 'Span' })
      await expect(async () => {
        await page.keyboard.press('KeyN')
        await page.keyboard.press('Period')
        await expect(selected).toContainText('q_all_gather', { timeout: 1000 })
      }).toPass()
      await page.keyboard.press('KeyE')
      const field = page.getByTestId('timeline-note')
      await expect(field).toBeFocused()
      await page.keyboard.type(TEXT)
      await page.getByTestId('timeline-note-keep').click()
      await expect(
        page.getByText(/the note was not kept, as the bundle cannot be written to: .*; copy the bundle/),
      ).toHaveCount(1)
      await expect(field).toHaveValue(TEXT)
      expect(existsSync(join(bundle, 'notes.json'))).toBe(false)

      // It is still there after another span, and another view, were looked at.
      await page.getByTestId('timeline-canvas').focus()
      await page.keyboard.press('Period')
      await expect(field).toHaveValue('')
      await showView(page, 'ownership')
      await showView(page, 'timeline')
      await page.getByTestId('timeline-canvas').focus()
      await page.keyboard.press('Comma')
      await expect(field).toHaveValue(TEXT)
      await page.getByTestId('timeline-note-copy').click()
      await expect.poll(() => app.evaluate(({ clipboard }) => clipboard.readText())).toBe(TEXT)

      writable?.()
      await page.getByTestId('timeline-note-keep').click()
      await expect(page.getByTestId('timeline-notes').getByRole('row', { name: TEXT })).toHaveCount(1)
      await expect(page.getByTestId('timeline-note-copy')).toHaveCount(0)
      expect(existsSync(join(bundle, 'notes.json'))).toBe(true)
      expect(errors).toEqual([])
    } finally {
      await close()
    }
  } finally {
    writable?.()
    rmSync(data, { recursive: true, force: true })
  }
})
