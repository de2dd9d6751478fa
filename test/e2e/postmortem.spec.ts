import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElectronApplication, Page } from 'playwright'
import { formatInt, formatValue } from '../../renderer/drawing/format.ts'
import { chooseTheme, onlyBundle, resize, runDefault, SIZES, settled, showView } from './desk.ts'
import { DUMP, dropOn, partialAt, writeDump, writeLargeDump } from './dump.ts'
import { expect, test } from './fixture.ts'
import { launch } from './launch.ts'
import { captureFile, tensorIn } from './tensors.ts'

const SCREENS = join(__dirname, '..', '..', 'test-results', 'screens')

let folder = ''
test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-dump-'))
})
test.afterEach(() => rmSync(folder, { recursive: true, force: true }))

const clipboard = (app: ElectronApplication): Promise<string> =>
  app.evaluate(({ clipboard: board }) => board.readText())

const row = (page: Page, rank: number): Promise<string[]> =>
  page.getByTestId(`pm-rank-${rank}`).locator('th, td').allTextContents()

const absmax = (rank: number, at: number, head: number): number =>
  Math.max(
    ...Array.from({ length: DUMP.width }, (_, i) => Math.abs(Math.fround(partialAt(rank, at, head, i)))),
  )

test('a dropped folder is looked into down to single values', async ({ desk: { app, page } }) => {
  writeDump(join(folder, 'bad outputs'))
  await expect(page.getByTestId('view-postmortem')).toBeVisible()
  await dropOn(page, [join(folder, 'bad outputs')], false)
  await expect(page.getByTestId('drop-target')).toBeVisible()
  await dropOn(page, [join(folder, 'bad outputs')])
  await expect(page.getByTestId('drop-target')).toHaveCount(0)
  await expect(page.getByTestId('pm-source')).toHaveValue(/^dump-/)
  await expect(page.getByTestId('pm-step')).toHaveValue('7')
  await expect(page.getByTestId('pm-layer')).toHaveValue('2')
  await page.getByTestId('pm-tab-tensors').click()

  // The partials are shown first; every number is that of the file.
  for (let rank = 0; rank < DUMP.ranks; rank++) {
    await expect(page.getByTestId(`pm-rank-${rank}`)).toContainText(
      formatValue(Math.fround(absmax(rank, 0, 0))),
    )
    const [, , nan, inf] = await row(page, rank)
    expect([nan, inf]).toEqual([rank === 3 ? '1' : '0', '0'])
  }
  await expect(page.getByTestId('pm-tensor-odd_one')).toBeDisabled()

  // Down to the NaN by keys: rank 3, row 2, head 5, value 7.
  await page.getByTestId('pm-rank-3').click()
  await expect(async () => {
    await page.keyboard.press('ArrowDown')
    await expect(page.getByTestId('pm-cell')).toContainText('row 1 (request 1', { timeout: 1000 })
  }).toPass()
  await page.keyboard.press('ArrowDown')
  for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight')
  await expect(page.getByTestId('pm-cell')).toContainText('rank 3, row 2 (request 2, query 0), head 5')
  await expect(page.getByTestId('pm-cell')).toContainText('NaN')
  await expect(page.getByTestId('crumb-head')).toContainText('5')
  await page.getByTestId('pm-table').click()
  const values = page.getByRole('region', { name: 'Values' }).getByRole('row')
  await expect(values.filter({ hasText: 'NaN' })).toHaveCount(1)
  await page.keyboard.press('c')
  await expect.poll(() => clipboard(app)).toContain('value\trank 0\trank 1\trank 2\trank 3')
  const line = (await clipboard(app)).split('\n')[8]?.split('\t')
  expect(line).toEqual([
    '7',
    ...[0, 1, 2].map((rank) => String(Math.fround(partialAt(rank, 2, 5, 7)))),
    'NaN',
  ])

  // Other measures, tensors, and what no rank but one keeps.
  await page.keyboard.press('m')
  await page.keyboard.press('m')
  await expect(page.getByTestId('pm-measure-nan')).toHaveAttribute('aria-pressed', 'true')
  await expect(page.getByTestId('pm-cell')).toContainText('NaN and Inf 1')
  await page.keyboard.press('.')
  await expect(page.getByTestId('pm-tensor-lse')).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('m')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await expect(page.getByTestId('pm-cell')).toContainText('value −∞')
  await expect(page.getByTestId('pm-counts')).toContainText(`−∞ ${formatInt(DUMP.heads)}`)
  await page.getByTestId('pm-tensor-merged').click()
  const [, picked0] = await row(page, 0)
  expect(picked0).toBe('not here')
  await expect(page.getByTestId('pm-rank-2').locator('td').first()).not.toHaveText('not here')
  await page.keyboard.press('l')
  await expect(page.getByTestId('pm-octaves')).toHaveAttribute('aria-pressed', 'true')

  // The selected request goes with it.
  await page.getByTestId('pm-to-ownership').click()
  await expect(page.getByTestId('ownership-dump')).toHaveAttribute('aria-pressed', 'true')
  await expect(page.getByRole('toolbar', { name: 'Ownership' })).toContainText('length 2')
})

test('what cannot be used is listed with its sentence, and what can be answered is told', async ({
  desk: { page },
}) => {
  writeDump(folder)
  writeFileSync(join(folder, 'truncated.safetensors'), 'no')
  writeFileSync(join(folder, 'empty.safetensors'), '')
  rmSync(join(folder, 'step7-layer2-rank1.safetensors'))
  await dropOn(page, [folder])
  await expect(page.getByTestId('pm-group-note')).toContainText('3 of 4 ranks')
  await page.getByTestId('pm-tab-contents').click()
  const problems = page.getByTestId('pm-problems')
  for (const text of [/truncated\.safetensors: /, /empty\.safetensors: /, /lacks rank 1 of 4/])
    await expect(problems).toContainText(text)
  await expect(page.getByTestId('pm-question-lengths')).toHaveAttribute('data-answerable', 'true')
  await expect(page.getByTestId('pm-question-merge')).toContainText('files of rank 1')
  await expect(page.getByTestId('pm-question-reference')).toContainText('kv or kv_k + kv_v')

  // A dump of which nothing can be used says so, and what to do.
  const none = join(folder, 'none')
  mkdirSync(none)
  writeFileSync(join(none, 'a.safetensors'), 'no')
  await dropOn(page, [join(none, 'a.safetensors')])
  await page.getByTestId('pm-tab-tensors').click()
  await expect(page.getByTestId('pm-nothing')).toBeVisible()
  await page.getByRole('button', { name: 'Show what is wrong' }).click()
  await expect(problems).toContainText('a.safetensors')
})

test('of a large tensor a sample of rows is read, which is said, and all on request', async ({
  desk: { page },
}) => {
  writeLargeDump(folder)
  await dropOn(page, [folder])
  await page.getByTestId('pm-tab-tensors').click()
  const coarse = page.getByTestId('pm-coarse')
  await expect(coarse).toContainText('every 2nd row is read')
  const values = 64 * 128 * 4096
  await expect(page.getByTestId('pm-counts')).toContainText(`${formatInt(values / 2)} values`)
  await coarse.getByRole('button', { name: 'Read all' }).click()
  await expect(page.getByTestId('pm-counts')).toContainText(`${formatInt(values)} values`, {
    timeout: 60_000,
  })
  await expect(coarse).toHaveCount(0, { timeout: 60_000 })
})

test('dumps are opened by argument and by dialog, and are there again after a restart', async () => {
  writeDump(join(folder, 'first'))
  writeDump(join(folder, 'second'), 9, 0)
  const dataDir = join(folder, 'data')
  const userData = join(folder, 'user')
  const first = await launch({ dataDir, userData, args: [join(folder, 'first')] })
  try {
    await expect(first.page.getByTestId('pm-step')).toHaveValue('7')
    await first.app.evaluate(
      ({ dialog }, path) => {
        dialog.showOpenDialog = async () => ({ canceled: false, filePaths: [path] })
      },
      join(folder, 'second'),
    )
    await expect(async () => {
      await first.page.keyboard.press('Control+Shift+O')
      await expect(first.page.getByTestId('pm-step')).toHaveValue('9', { timeout: 1000 })
    }).toPass()
  } finally {
    await first.close()
  }
  const second = await launch({ dataDir, userData })
  try {
    await showView(second.page, 'postmortem')
    await expect(second.page.getByTestId('pm-recent')).toHaveText(['second', 'first'])
    await second.page.getByTestId('pm-recent').last().click()
    await expect(second.page.getByTestId('pm-step')).toHaveValue('7')
    await second.page.getByRole('button', { name: 'Take this dump out of the list' }).click()
    await expect(second.page.getByTestId('pm-recent')).toHaveText(['second'])
    expect(second.errors).toEqual([])
  } finally {
    await second.close()
  }
})

test('the tensors of a run are looked into from Merge, and lead back', async ({
  desk: { page, dataDir },
}) => {
  await showView(page, 'postmortem')
  await expect(page.getByTestId('pm-no-dump')).toBeVisible()
  await showView(page, 'run')
  await runDefault(page)
  const bundle = onlyBundle(dataDir)
  await showView(page, 'merge')
  await expect(page.getByTestId('merge-lse')).toBeVisible()
  await page.getByTestId('merge-row').fill('1')
  await page.getByTestId('merge-head').fill('3')
  await page.getByTestId('merge-to-postmortem').click()
  await expect(page.getByTestId('pm-cell')).toContainText('row 1 (request 1, query 0), head 3')
  await page.getByTestId('pm-tensor-lse').click()
  for (const rank of [0, 1, 2, 3]) {
    const { values, shape } = tensorIn(captureFile(bundle, 23, 0, rank), 'lse')
    await expect(page.getByTestId(`pm-rank-${rank}`).locator('td').first()).toHaveText(
      formatValue(values[(shape[1] ?? 0) + 3] ?? Number.NaN),
    )
  }
  await expect(page.getByTestId('pm-rank-reference')).toBeVisible()
  await page.getByTestId('pm-tensor-kv').click()
  await expect(page.getByTestId('pm-cell')).toContainText('page 0, slot 0')
  await page.getByTestId('pm-to-merge').click()
  await expect(page.getByTestId('merge-row')).toHaveValue('1')
  await expect(page.getByTestId('merge-head')).toHaveValue('3')
})

test('nothing is cut off in either theme and size', async ({ desk: { app, page } }) => {
  mkdirSync(SCREENS, { recursive: true })
  writeDump(join(folder, 'dump'))
  writeFileSync(join(folder, 'dump', 'truncated.safetensors'), 'no')
  const shot = async (name: string): Promise<void> => {
    const picture = await settled(page, async () => (await page.screenshot()).toString('base64'))
    writeFileSync(join(SCREENS, `${name}.png`), picture, 'base64')
  }
  for (const [width, height] of SIZES)
    for (const theme of ['dark', 'light']) {
      await resize(app, page, width, height)
      await chooseTheme(page, theme)
      const at = `${theme}-${width}`
      if ((await page.getByTestId('pm-source').count()) === 0) {
        await showView(page, 'postmortem')
        await shot(`postmortem-empty-${at}`)
        await dropOn(page, [join(folder, 'dump')])
      }
      await page.getByTestId('pm-tab-tensors').click()
      await page.getByTestId('pm-rank-3').click()
      for (const tensor of ['out', 'lse', 'seq_lens_local']) {
        await page.getByTestId(`pm-tensor-${tensor}`).click()
        await shot(`postmortem-${tensor}-${at}`)
        const cut = await page
          .locator('.pm-toolbar, .pm-tabs, .pm-tensor-name, .pm-caption, .pm-tensor-view')
          .evaluateAll((all) =>
            all
              .filter(
                (one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1,
              )
              .map((one) => `${one.className} ${one.textContent ?? ''}`),
          )
        expect(cut, `${tensor} ${at}`).toEqual([])
      }
      await page.getByTestId('pm-tab-contents').click()
      await shot(`postmortem-contents-${at}`)
    }
})
