import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ElectronApplication } from 'playwright'
import type { Page } from 'playwright/test'
import type { ViewId } from '../../renderer/state/view.ts'
import { onlyBundle, query, runDefault, settled, showView, waitReady } from './desk.ts'
import { expect, test } from './fixture.ts'
import { launch } from './launch.ts'
import { SWEEP, smallSweep } from './small-sweep.ts'

/** Has the dialog answer with this path; undefined: the person cancels. */
const answerWith = (app: ElectronApplication, path: string | undefined): Promise<void> =>
  app.evaluate(({ dialog }, filePath) => {
    dialog.showSaveDialog = async () =>
      filePath === undefined ? { canceled: true, filePath: '' } : { canceled: false, filePath }
  }, path)

/** Saves what the menu of the view calls `name`, and gives the file. */
const save = async (app: ElectronApplication, page: Page, name: string, as: string): Promise<Buffer> => {
  const folder = join(__dirname, '..', '..', 'test-results', 'export')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name.replace(/\W+/g, '-')}.${as.toLowerCase()}`)
  rmSync(path, { force: true })
  await answerWith(app, path)
  await page.keyboard.press('Control+E')
  await page.getByRole('button', { name: `Save as ${as}: ${name}`, exact: true }).click()
  await expect.poll(() => readOrNothing(path)).not.toBe(undefined)
  return readFileSync(path)
}

const readOrNothing = (path: string): number | undefined => {
  try {
    return readFileSync(path).length
  } catch {
    return undefined
  }
}

interface Names {
  readonly pictures: readonly string[]
  readonly tables: readonly string[]
}

/** What the menu of the view offers. */
const offered = async (page: Page): Promise<Names> => {
  await page.keyboard.press('Control+E')
  await expect(page.getByTestId('export-menu')).toBeVisible()
  const labels = await page
    .getByTestId('export-menu')
    .getByRole('button')
    .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label') ?? ''))
  await page.keyboard.press('Escape')
  const named = (way: string): string[] =>
    labels.filter((label) => label.startsWith(way)).map((label) => label.slice(way.length))
  return { pictures: named('Save as PNG: '), tables: named('Save as CSV: ') }
}

/** Shares of the pixels of a saved picture that differ visibly from the n-th picture of the view as it is on the screen. */
const differing = async (page: Page, png: Buffer, n: number): Promise<number> => {
  const box = await page.evaluate(
    `(() => {
      const all = [...document.querySelectorAll('.frame-view :is(canvas[role="img"], svg[role="img"], .recharts-wrapper > svg)')]
      all[${n}].scrollIntoView({ block: 'nearest' })
      const { x, y, width, height } = all[${n}].getBoundingClientRect()
      return { x, y, width, height }
    })()`,
  )
  const clip = box as { x: number; y: number; width: number; height: number }
  const shown = await page.screenshot({ clip })
  return Number(
    await page.evaluate(`(async () => {
      const pixels = async (data, width, height, whole) => {
        const image = new Image()
        image.src = 'data:image/png;base64,' + data
        await image.decode()
        const canvas = document.createElement('canvas')
        canvas.width = width
        canvas.height = height
        const pen = canvas.getContext('2d')
        if (whole) pen.drawImage(image, 0, 0, width, height)
        else pen.drawImage(image, 0, 0, width * 2, height * 2, 0, 0, width, height)
        return pen.getImageData(0, 0, width, height).data
      }
      const [width, height] = [Math.floor(${clip.width}), Math.floor(${clip.height})]
      const shown = await pixels('${shown.toString('base64')}', width, height, true)
      const saved = await pixels('${png.toString('base64')}', width, height, false)
      let other = 0
      for (let i = 0; i < shown.length; i += 4)
        if (Math.abs(shown[i] - saved[i]) + Math.abs(shown[i + 1] - saved[i + 1]) + Math.abs(shown[i + 2] - saved[i + 2]) > 120) other++
      return other / (width * height)
    })()`),
  )
}

const isWellFormed = async (page: Page, svg: string): Promise<boolean> =>
  (await page.evaluate(
    `new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').querySelector('parsererror') === null`,
  )) === true

const lines = (csv: Buffer): string[] => csv.toString('utf8').split('\r\n').slice(0, -1)

/** Saves everything that the view offers, and checks each picture against what is on the screen. */
const saveAll = async (app: ElectronApplication, page: Page): Promise<ReadonlyMap<string, string[]>> => {
  await settled(page, async () => (await page.screenshot()).toString('base64'))
  const { pictures, tables } = await offered(page)
  const saved = new Map<string, string[]>()
  for (const [n, name] of pictures.entries()) {
    const svg = (await save(app, page, name, 'SVG')).toString('utf8')
    expect(await isWellFormed(page, svg), `${name} is SVG`).toBe(true)
    expect(svg).toContain(`<title>${name}</title>`)
    // A mark under the pointer and the smoothing of letters and of spans narrower than a pixel may differ.
    const other = await differing(page, await save(app, page, name, 'PNG'), n)
    expect(other, `${name} looks as on the screen`).toBeLessThan(0.05)
    saved.set(name, [])
  }
  for (const name of tables) saved.set(name, lines(await save(app, page, name, 'CSV')))
  return saved
}

const namesOf = (saved: ReadonlyMap<string, unknown>): string => [...saved.keys()].join('; ')

test('pictures and tables of every view of a run are saved as they are shown', async ({
  desk: { app, page, dataDir },
}) => {
  test.slow()
  await runDefault(page)
  const bundle = onlyBundle(dataDir)

  const run = await saveAll(app, page)
  expect(namesOf(run)).toBe('Throughput over the steps; Stages')
  const stages = run.get('Stages') ?? []
  expect(stages[0]).toBe('stage,source,p50_us,p95_us,share_of_time,wait_share_of_time')
  const known = await query(bundle, 'SELECT DISTINCT stage FROM spans')
  expect(
    stages
      .slice(1)
      .map((line) => line.split(',')[0])
      .sort(),
  ).toEqual(known.map(({ stage }) => stage).sort())

  const offers: readonly (readonly [ViewId, string])[] = [
    ['timeline', 'Stages of 4 ranks over time'],
    [
      'ownership',
      '1024 tokens on 4 ranks, one band is 8 tokens, split by the share of each rank; Balance of the batch',
    ],
    ['pages', 'Block table of rank 0, 4 requests by 16 columns, beside a pool of 29 pages'],
    [
      'merge',
      'Relative error of 4 rows and 16 heads; Weights; 512 merged values with their error; Partials; Comparisons',
    ],
    ['events', 'Over the steps; Events by kind'],
    ['backends', 'Back-ends'],
    ['scenarios', 'A step from left to right on 4 ranks'],
  ]
  for (const [view, names] of offers) {
    await showView(page, view)
    const saved = await saveAll(app, page)
    expect(namesOf(saved), view).toBe(names)
    // The last row of the partials is what they merge to.
    if (view === 'merge') expect(saved.get('Partials')).toHaveLength(4 + 2)
  }

  // The tables of Pages have all requests and cells, not only what fits.
  await showView(page, 'pages')
  await expect(page.getByRole('img', { name: /^Block table/ })).toBeVisible()
  await page.keyboard.press('t')
  await expect(page.getByTestId('pages-cell-0')).toBeVisible()
  const pages = await saveAll(app, page)
  expect(pages.get('Requests of rank 0')).toHaveLength(4 + 1)
  expect(pages.get('Cells of rank 0 request 0')?.[0]).toBe(
    'column,first_token,page,keys_here,taken_at_step,state',
  )
  expect(pages.get('Cells of rank 0 request 0')).toHaveLength(16 + 1)

  await showView(page, 'postmortem')
  await page.getByTestId('pm-tab-tensors').click()
  await page.getByTestId('pm-table').click()
  await expect(page.getByRole('region', { name: 'Values' })).toBeVisible()
  const tensors = await saveAll(app, page)
  // An index a line, as many as a partial is wide.
  expect(tensors.get('Values of out')).toHaveLength(512 + 1)
})

test('what is saved is chosen by keys, and nothing is written that was cancelled or cannot be', async ({
  desk: { app, page, dataDir },
}) => {
  await showView(page, 'timeline')
  await page.keyboard.press('Control+E')
  await expect(page.getByTestId('export-menu')).toContainText('Nothing here can be saved yet')
  await page.keyboard.press('Escape')
  await expect(page.getByTestId('export-menu')).toHaveCount(0)
  await showView(page, 'run')
  await runDefault(page)
  await showView(page, 'merge')
  await expect(page.getByTestId('merge-rank-0')).toBeVisible()

  // By keys from the button and back.
  const path = join(dataDir, 'partials.csv')
  await answerWith(app, path)
  await page.getByTestId('export').focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: /^Save as PNG: Relative error/ })).toBeFocused()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await expect(page.getByRole('button', { name: 'Save as CSV: Partials' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('messages')).toContainText('Saved partials.csv.')
  await expect(page.getByTestId('export')).toBeFocused()
  const saved = readFileSync(path, 'utf8')

  // By the right button on a table: only that is offered, and its text goes to the clipboard.
  await page.getByTestId('merge-rank-1').click({ button: 'right' })
  const copy = page.getByTestId('export-menu').getByRole('button')
  await expect(copy).toHaveCount(2)
  await copy.nth(1).click()
  await expect
    .poll(() => app.evaluate(({ clipboard }) => clipboard.readText()))
    .toBe(saved.trimEnd().replaceAll(',', '\t').replaceAll('\r\n', '\n'))

  // By the palette, which finds it by name; cancelled there, nothing is said to be saved.
  await answerWith(app, undefined)
  await page.getByTestId('messages').click()
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+Shift+P')
  await page.keyboard.type('svg weights')
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('messages')).toHaveText('No messages')

  // Where nothing can be written it says so and what to do, and leaves nothing there.
  await answerWith(app, join(dataDir, 'gone', 'weights.svg'))
  await page.keyboard.press('Control+Shift+P')
  await page.keyboard.type('svg weights')
  await page.keyboard.press('Enter')
  await expect(page.getByTestId('messages')).toContainText(
    'Nothing was saved: this folder is not there any more; choose another',
  )
  expect(readdirSync(dataDir)).not.toContain('gone')
})

test('curves and the map of a sweep are saved with their numbers', async () => {
  const { data, bundle } = await smallSweep()
  const { app, page, close, errors } = await launch({ dataDir: data, args: [bundle] })
  await expect(page.getByTestId('gain-map')).toBeVisible()
  await page.getByTestId('map-128-1').click()
  const saved = await saveAll(app, page)
  expect(namesOf(saved)).toBe('Curves; Crossovers; Rates; Gain map; Cell of context 128 concurrency 1')
  const [header, ...rows] = saved.get('Gain map') ?? []
  expect(header).toMatch(/^context_tokens,concurrency_requests,best_dcp,gain_over_tp,/)
  expect(rows).toHaveLength(SWEEP.context.length * SWEEP.concurrency.length)
  expect(saved.get('Rates')?.[0]).toMatch(
    /^arrangement,context_tokens,concurrency_requests,source,tokens_per_s,low_95/,
  )
  for (const [key, names] of [
    ['f', 'Front; Points of the front'],
    ['s', 'Stages; Parts of a step'],
    ['o', 'Roofline; Points under the roof'],
    ['k', 'KV capacity'],
  ] as const) {
    await page.keyboard.press(key)
    expect(namesOf(await saveAll(app, page))).toBe(`${names}; Gain map; Cell of context 128 concurrency 1`)
  }
  await close()
  expect(errors).toEqual([])
  rmSync(data, { recursive: true, force: true })
})

test('what differs between two runs is saved with exact times', async ({ desk: { app, page } }) => {
  test.slow()
  await waitReady(page, 'engine')
  await showView(page, 'compare')
  await page.getByTestId('compare-sample').click()
  await expect(page.getByTestId('compare-times')).toBeVisible({ timeout: 60_000 })
  const saved = await saveAll(app, page)
  const [header, ...rows] = saved.get('Stages compared') ?? []
  expect(header).toBe(
    'measure,rank,a_ns,b_ns,difference_ns,low_95_ns,high_95_ns,steps_slower,steps_faster,p,verdict',
  )
  expect(rows.map((row) => row.split(',')[0])).toContain('decode_attn')
})
