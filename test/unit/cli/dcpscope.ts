import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, vi } from 'vitest'
import { type Manifest, manifestSchema } from '../../../app/trace/manifest.ts'

/** Folder of the built scripts under test. */
const DIST = resolve(process.env.DCPSCOPE_DIST ?? 'dist')
export const CLI = join(DIST, 'cli.js')
if (!existsSync(CLI)) throw new Error(`${CLI} is missing; run "npm run build" before the tests`)

// Whole processes on a machine that others use too.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A folder of its own for one test, removed at the end. */
export const freshFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-cli-'))
  folders.push(folder)
  return folder
}

export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  readonly pid: number
  readonly outcome: Promise<Outcome>
}

export interface Setting {
  /** Data folder of the user. */
  readonly data?: string
  readonly stdin?: string
  /** On top of the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>
  /** Another command line than the one under test. */
  readonly cli?: string
  /** Program with arguments that runs Node in place of Node itself. */
  readonly through?: readonly string[]
}

/** Starts the command line as a user would. */
export const start = (args: readonly string[], setting: Setting = {}): Running => {
  const { data = freshFolder(), stdin, env = {}, cli = CLI, through = [] } = setting
  const [program = process.execPath, ...rest] = [...through, process.execPath, cli, ...args]
  const child = spawn(program, rest, {
    env: { ...process.env, XDG_DATA_HOME: data, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const texts = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.stderr += text
  })
  // A command that refuses its arguments need not read its input.
  child.stdin.on('error', () => {})
  child.stdin.end(stdin ?? '')
  const outcome = new Promise<Outcome>((done, fail) => {
    child.on('error', fail)
    child.on('close', (code, signal) => done({ code, signal, ...texts }))
  })
  if (child.pid === undefined) throw new Error('the command line did not start')
  return { child, pid: child.pid, outcome }
}

export const dcpscope = (args: readonly string[], setting?: Setting): Promise<Outcome> =>
  start(args, setting).outcome

export const manifestOf = (bundle: string): Manifest =>
  manifestSchema.parse(JSON.parse(readFileSync(join(bundle, 'run.json'), 'utf8')))

export const query = async (bundle: string, sql: string): Promise<unknown> => {
  const { code, stdout, stderr } = await dcpscope(['query', bundle, sql, '--format', 'json'])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

export const configFile = (config: unknown): string => {
  const file = join(freshFolder(), 'config.json')
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config))
  return file
}

/** A run that lasts until it is ended. */
export const endlessConfig = (): string =>
  configFile({ model: { preset: 'tiny' }, workload: { steps: 1_000_000 }, capture: { steps: 'none' } })

/** Resolves when the run has written parts of its steps. */
export const recording = async (bundle: string, { outcome }: Running): Promise<void> => {
  let over: Outcome | undefined
  outcome.then((o) => {
    over = o
  })
  while (!hasParts(join(bundle, 'steps'))) {
    if (over !== undefined) throw new Error(`the run ended early: ${over.code} ${over.stderr}`)
    await new Promise((next) => setTimeout(next, 50))
  }
}

const hasParts = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.parquet'))

export const childrenOf = (pid: number): number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (child !== undefined && parent === pid ? [child] : []))

/** The engine's process, as soon as there is one: long before it is ready. */
export const firstChild = async ({ pid, child }: Running): Promise<number> => {
  for (;;) {
    const [engine] = childrenOf(pid)
    if (engine !== undefined) return engine
    if (child.exitCode !== null) throw new Error('the run ended early')
    await new Promise((next) => setTimeout(next, 5))
  }
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch {
    return false
  }
}

/** Has ended, and waits for a parent that does not look: the first process of many containers never does. */
const isZombie = (pid: number): boolean =>
  process.platform === 'linux' && /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
