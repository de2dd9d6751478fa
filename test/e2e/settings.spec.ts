import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright/test'
import { runDefault, showView, stateOf, waitReady } from './desk.ts'
import { expect, test } from './fixture.ts'
import { launch } from './launch.ts'

const background = (page: Page): Promise<unknown> =>
  page.evaluate('getComputedStyle(document.querySelector(\'[title="rank 0"]\')).backgroundColor')

test('settings hold at once, for the next start, and are reset', async () => {
  const userData = mkdtempSync(join(tmpdir(), 'dcpscope-user-'))
  const first = await launch({ userData })
  const { page } = first
  await waitReady(page, 'store')
  // By the key, and by keys alone.
  // A display without a window manager loses keys until the new window has the focus.
  await expect(async () => {
    await page.keyboard.press('Control+Comma')
    await expect(page.getByTestId('settings-changed')).toBeVisible({ timeout: 1000 })
  }).toPass()
  await expect(page.getByTestId('settings-changed')).toHaveText('Everything is at its default.')
  await page.getByTestId('setting-theme-system').focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  const usual = await background(page)
  await page.getByTestId('setting-colours-safe').check()
  await expect.poll(() => background(page)).not.toBe(usual)
  await page.getByTestId('setting-thousands-comma').check()
  await page.getByTestId('setting-durations-us').check()
  await page.getByTestId('setting-bytes-decimal').check()
  await expect(page.getByTestId('settings-numbers')).toHaveText(
    '1,234,567 tokens, 1,234.6\u2009µs, 12.3\u2009µs, 1.61\u2009GB',
  )

  // A number is taken when it is valid, and what is wrong with it stands beside it.
  await page.getByTestId('setting-storeMemoryMb').fill('100')
  await expect(page.getByRole('alert')).toHaveText('must be 0 or at least 256')
  await page.keyboard.press('Enter')
  expect((await stateOf(page)).settings.storeMemoryMb).toBe(0)
  await page.getByTestId('setting-storeMemoryMb').fill('512')
  await page.getByTestId('setting-frames').fill('30')
  await page.keyboard.press('Enter')
  await expect
    .poll(async () => (await stateOf(page)).settings)
    .toEqual({
      theme: 'dark',
      colours: 'safe',
      thousands: 'comma',
      durations: 'us',
      bytes: 'decimal',
      frames: 30,
      storeMemoryMb: 512,
    })

  // The store works within its limit, and views write numbers as set.
  await showView(page, 'run')
  await runDefault(page)
  await expect(page.getByTestId('stage-table')).toContainText('µs')
  await showView(page, 'merge')
  await expect(page.getByText('1,024').first()).toBeVisible()
  await first.close()
  expect(first.errors).toEqual([])

  const second = await launch({ userData })
  await expect(second.page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await showView(second.page, 'settings')
  await expect(second.page.getByTestId('settings-changed')).toHaveText('7 of 7 differ from the defaults.')
  await second.page.getByTestId('settings-reset').click()
  await expect(second.page.getByTestId('settings-changed')).toHaveText('Everything is at its default.')
  await expect(second.page.getByTestId('setting-frames')).toHaveValue('60')
  await expect
    .poll(() => JSON.parse(readFileSync(join(userData, 'settings.json'), 'utf8')))
    .toMatchObject({ theme: 'system', frames: 60 })
  await second.close()
  expect(second.errors).toEqual([])
  rmSync(userData, { recursive: true, force: true })
})

test('a damaged file of settings is said, put aside and replaced', async () => {
  const userData = mkdtempSync(join(tmpdir(), 'dcpscope-user-'))
  mkdirSync(userData, { recursive: true })
  writeFileSync(join(userData, 'settings.json'), '{"theme": "dark", oops')
  const { page, close, errors } = await launch({ userData })
  await expect(page.getByTestId('messages')).toContainText('The settings could not be read')
  await expect(page.getByTestId('messages')).toContainText('settings.json.broken')
  await showView(page, 'settings')
  await expect(page.getByTestId('settings-changed')).toHaveText('Everything is at its default.')
  expect(readFileSync(join(userData, 'settings.json.broken'), 'utf8')).toContain('oops')
  await close()
  expect(errors).toEqual([])
  rmSync(userData, { recursive: true, force: true })
})
