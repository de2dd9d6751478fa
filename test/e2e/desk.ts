import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ElectronApplication } from 'playwright'
import { expect, type Locator, type Page } from 'playwright/test'
import {
  type CommandResult,
  commandResultSchema,
  type DesktopState,
  desktopStateSchema,
} from '../../app/protocol/desktop.ts'
import { type Manifest, manifestSchema } from '../../app/trace/manifest.ts'
import type { ViewId } from '../../renderer/state/view.ts'

const ROOT = join(__dirname, '..', '..')
const run = promisify(execFile)

/** State of the desktop as the page is told. */
export const stateOf = async (page: Page): Promise<DesktopState> =>
  desktopStateSchema.parse(await page.evaluate('window.dcpscope.getState()'))

/** Sends a payload through the bridge as the page would. */
export const invoke = async (page: Page, command: string, params: unknown): Promise<CommandResult> =>
  commandResultSchema.parse(
    await page.evaluate(`window.dcpscope.invoke(${JSON.stringify(command)}, ${JSON.stringify(params)})`),
  )

/** Process id of the engine or the store; both must be ready. */
export const pidOf = async (page: Page, process: 'engine' | 'store'): Promise<number> => {
  await waitReady(page, process)
  const state = (await stateOf(page))[process]
  if (state.status !== 'ready') throw new Error(`the ${process} is ${state.status}`)
  return state.pid
}

/** Has the page read everything anew when it is loaded again: what it still holds in memory would not be asked for. */
export const withoutCache = async (page: Page): Promise<void> => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
}

export const waitReady = (page: Page, process: 'engine' | 'store'): Promise<void> =>
  expect.poll(async () => (await stateOf(page))[process].status, { timeout: 20_000 }).toBe('ready')

/** Folders of the bundles below the data folder of a test, oldest first. */
export const bundlesOf = (dataDir: string): string[] => {
  const runs = join(dataDir, 'dcpscope', 'runs')
  return existsSync(runs)
    ? readdirSync(runs)
        .filter((name) => name.endsWith('.dcp'))
        .sort()
        .map((name) => join(runs, name))
    : []
}

export const onlyBundle = (dataDir: string): string => {
  const [bundle, ...others] = bundlesOf(dataDir)
  if (bundle === undefined || others.length > 0) throw new Error(`one bundle was expected in ${dataDir}`)
  return bundle
}

export const manifestOf = (bundle: string): Manifest =>
  manifestSchema.parse(JSON.parse(readFileSync(join(bundle, 'run.json'), 'utf8')))

export type Row = Readonly<Record<string, unknown>>

/** Rows of a query that the command line runs over a bundle, in a process of its own. */
export const query = async (bundle: string, sql: string): Promise<Row[]> => {
  const { stdout } = await run(
    process.execPath,
    [join(ROOT, 'dist', 'cli.js'), 'query', bundle, sql, '--format', 'json'],
    { maxBuffer: 64 << 20 },
  )
  const rows: unknown = JSON.parse(stdout)
  if (!Array.isArray(rows)) throw new Error('the query gave no rows')
  return rows
}

/** The only row of a query, its values as numbers. */
export const numbers = async (bundle: string, sql: string): Promise<Readonly<Record<string, number>>> => {
  const rows = await query(bundle, sql)
  const [row] = rows
  if (row === undefined || rows.length !== 1) throw new Error(`one row was expected, got ${rows.length}`)
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]))
}

/** Control of a configuration field in the form. */
export const field = (page: Page, path: string): Locator => page.locator(`[id="field-${path}"]`)

export const showView = (page: Page, view: ViewId): Promise<void> => page.getByTestId(`view-${view}`).click()

/** What `read` gives once it gives the same after further frames of the page, in JSON: nothing moves any more. */
export const settled = async <T>(page: Page, read: () => Promise<T>): Promise<T> => {
  let last = await read()
  await expect
    .poll(async () => {
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      const before = last
      last = await read()
      return JSON.stringify(last) === JSON.stringify(before)
    })
    .toBe(true)
  return last
}

export interface Range {
  readonly start: number
  readonly end: number
}

/** The part of the run that the timeline shows, ns. */
export const rangeOf = async (page: Page): Promise<Range> => {
  const range = page.getByTestId('timeline-range')
  return {
    start: Number(await range.getAttribute('data-start')),
    end: Number(await range.getAttribute('data-end')),
  }
}

export const span = ({ start, end }: Range): number => end - start

/** Turns the wheel towards the pointer, each time only once the turn before is seen. */
export const wheelIn = async (page: Page, turns: number): Promise<void> => {
  for (let i = 0; i < turns; i++) {
    const before = span(await rangeOf(page))
    await page.mouse.wheel(0, -300)
    await expect.poll(async () => span(await rangeOf(page))).toBeLessThan(before)
  }
}

/** Starts the default run with the mouse and waits for its end. */
export const runDefault = async (page: Page): Promise<void> => {
  await waitReady(page, 'engine')
  await page.getByTestId('run-start-default').click()
  await expect.poll(async () => (await stateOf(page)).lastRun?.status, { timeout: 30_000 }).toBe('complete')
}

/** Starts the app a second time with the arguments of the first and more; the exit code. */
export const startAgain = async (app: ElectronApplication, more: readonly string[]): Promise<unknown> => {
  const { spawnfile, spawnargs } = app.process()
  const own = spawnargs.slice(1).filter((argument) => !/inspect|remote-debugging|^-r$|loader/.test(argument))
  const child = spawn(spawnfile, [...own, ...more], { stdio: 'ignore', cwd: ROOT })
  const [code] = await once(child, 'exit')
  return code
}

/** The sizes of window at which every view is looked at. */
export const SIZES = [
  [1280, 800],
  [2560, 1440],
] as const

export const resize = async (
  app: ElectronApplication,
  page: Page,
  width: number,
  height: number,
): Promise<void> => {
  await app.evaluate(
    ({ BrowserWindow }, size) => BrowserWindow.getAllWindows()[0]?.setContentSize(size.width, size.height),
    { width, height },
  )
  // A display may keep a pixel for itself.
  await expect.poll(async () => Math.abs(Number(await page.evaluate('innerWidth')) - width)).toBeLessThan(3)
}

/** Clicks through the choices of the theme: system, light, dark. */
export const chooseTheme = async (page: Page, theme: string): Promise<void> => {
  const html = page.locator('html')
  for (let clicks = 0; clicks < 3 && (await html.getAttribute('data-theme')) !== theme; clicks++)
    await page.getByTestId('theme').click()
  await expect(html).toHaveAttribute('data-theme', theme)
}
