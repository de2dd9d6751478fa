import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { _electron, type ElectronApplication, type Page } from 'playwright'

const ROOT = join(__dirname, '..', '..')

export interface Launched {
  readonly app: ElectronApplication
  readonly page: Page
  /** XDG_DATA_HOME of this app alone. */
  readonly dataDir: string
  /** Errors that the page logged or threw. */
  readonly errors: string[]
  close(): Promise<void>
}

export interface LaunchOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Keeps the data of an earlier launch. */
  readonly dataDir?: string
  /** Keeps the settings of an earlier launch. */
  readonly userData?: string
  /** What is opened. */
  readonly args?: readonly string[]
}

const runtimePath = (): string => {
  const record: unknown = JSON.parse(readFileSync(join(ROOT, 'build', 'electron-runtime.json'), 'utf8'))
  if (typeof record === 'object' && record !== null && 'path' in record && typeof record.path === 'string')
    return record.path
  throw new Error('build/electron-runtime.json names no runtime; run the tests with npm run e2e')
}

const isRoot = (): boolean => process.platform === 'linux' && process.getuid?.() === 0

/** The environment without what would make Electron run as plain Node. */
const inherited = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name === 'ELECTRON_RUN_AS_NODE' ? [] : [[name, value]],
    ),
  )

const collectErrors = (page: Page, errors: string[]): void => {
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
}

/** A start takes 1 to 3 s; software graphics on a busy machine rarely hang for good before the first window. */
const PATIENCE_MS = 25_000

/** The app's first window; an app that shows none is ended, and what it said last is told. */
const windowOf = async (app: ElectronApplication): Promise<Page> => {
  let said = ''
  app.process().stderr?.on('data', (data: Buffer) => {
    said = (said + data.toString('utf8')).slice(-2000)
  })
  try {
    return await app.firstWindow({ timeout: PATIENCE_MS })
  } catch (error) {
    app.process().kill('SIGKILL')
    throw new Error(`the app showed no window; it said: ${said}`, { cause: error })
  }
}

interface Started {
  readonly app: ElectronApplication
  readonly page: Page
}

interface Start {
  readonly userData: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const start = async ({ userData, args, env }: Start): Promise<Started> => {
  // A packaged app knows its own files; a runtime is told the folder of the checkout.
  const packaged = process.env.DCPSCOPE_E2E_APP
  const app = await _electron.launch({
    executablePath: packaged ?? runtimePath(),
    cwd: ROOT,
    args: [
      ...(packaged === undefined ? ['.'] : []),
      ...args,
      `--user-data-dir=${userData}`,
      ...(isRoot() ? ['--no-sandbox'] : []),
    ],
    env: { ...inherited(), ...env },
    timeout: PATIENCE_MS,
  })
  return { app, page: await windowOf(app) }
}

/** Starts once more, and says so, when the runtime hangs before its first window. */
const startTwice = async (how: Start): Promise<Started> => {
  try {
    return await start(how)
  } catch (error) {
    console.warn(`the app did not start and is started again: ${String(error).slice(0, 300)}`)
    return start(how)
  }
}

/** Starts the built app in a real Electron with folders of its own. */
export const launch = async (options: LaunchOptions = {}): Promise<Launched> => {
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-e2e-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  const dataDir = options.dataDir ?? join(folder, 'data')
  try {
    const { app, page } = await startTwice({
      userData: options.userData ?? join(folder, 'user'),
      args: options.args ?? [],
      env: { XDG_DATA_HOME: dataDir, ...options.env },
    })
    const errors: string[] = []
    collectErrors(page, errors)
    const close = async (): Promise<void> => {
      await app.close()
      remove()
    }
    return { app, page, dataDir, errors, close }
  } catch (error) {
    remove()
    throw error
  }
}
