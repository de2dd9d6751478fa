import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  childrenOf,
  configFile,
  freshFolder,
  isAlive,
  manifestOf,
  type Outcome,
  query,
  type Running,
  recording,
  type Setting,
  start,
} from './dcpscope.ts'

/** Runs whose ranks are processes, as a user or a launcher starts them, and what must hold of them. */

/** Whether tests may have mounts, clocks and networks of their own; only where they run as root, and not in every container. */
export const canUnshare =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-m', '-n', '--time', '--fork', 'ip', 'link', 'set', 'lo', 'up']).status === 0

export const newBundle = (): string => join(freshFolder(), 'run.dcp')

// Where there are GPUs as well: tests of those are in test/gpu.
export const PROCESSES = { engine: { ranks: 'processes', device: 'cpu' } }
export const ON_CPU = ['--device', 'cpu']

/** Longer than any test looks, with caches that fit small machines. */
export const endless = (over: object = {}): string =>
  configFile({
    model: { preset: 'tiny' },
    workload: { steps: 100_000 },
    capture: { steps: 'none' },
    ...PROCESSES,
    ...over,
  })

/** The process and all below it. */
export const familyOf = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(familyOf)]

/** Resolves when none of them is there any more. */
export const gone = async (pids: readonly number[]): Promise<void> => {
  while (pids.some(isAlive)) await new Promise((next) => setTimeout(next, 20))
}

/** Names of shared memory that runs have left behind: whoever leads one that goes on may still need its own. */
export const segments = (): string[] => {
  if (process.platform !== 'linux') return []
  const leader = (name: string): number => Number(/^dcpscope-(\d+)-/.exec(name)?.[1] ?? process.pid)
  return readdirSync('/dev/shm').filter((name) => !isAlive(leader(name)))
}

export const numberIn = async (bundle: string, sql: string): Promise<number> => {
  const rows = await query(bundle, sql)
  return Number(Array.isArray(rows) ? Object.values(rows[0] ?? {})[0] : Number.NaN)
}

/** A port that nobody listens at. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

type RankSetting = Setting & { readonly config?: string }

export type Names = (rank: number, world: number) => Readonly<Record<string, string>>

export const torchrun: Names = (rank, world) => ({
  RANK: `${rank}`,
  WORLD_SIZE: `${world}`,
  LOCAL_RANK: `${rank}`,
})

export interface Launch {
  readonly config?: string
  readonly bundle?: string
  readonly names?: Names
  /** Settings of single ranks. */
  readonly of?: (rank: number) => RankSetting
  readonly ranks?: readonly number[]
  readonly world?: number
}

/** What a launcher does: one command for each rank, told its place by the environment. */
export const launch = async (options: Launch = {}): Promise<readonly Running[]> => {
  const { config = endless(), bundle = newBundle(), names = torchrun, world = 4 } = options
  const of: (rank: number) => RankSetting = options.of ?? (() => ({}))
  const port = await freePort()
  return (options.ranks ?? [0, 1, 2, 3]).map((rank) => {
    const { config: own = config, env = {}, ...setting } = of(rank)
    const meeting = { MASTER_ADDR: '127.0.0.1', MASTER_PORT: `${port}` }
    return start(['run', own, '--out', bundle], {
      ...setting,
      env: { ...meeting, ...names(rank, world), ...env },
    })
  })
}

/** Four commands whose run is recording, and all their processes. */
export const recordingLaunch = async (of?: Launch['of']) => {
  const bundle = newBundle()
  const running = await launch({ bundle, ...(of === undefined ? {} : { of }) })
  const [first, second] = running
  if (first === undefined || second === undefined) throw new Error('no ranks')
  await recording(bundle, first)
  return { bundle, running, first, second, families: running.flatMap(({ pid }) => familyOf(pid)) }
}

export const outcomesOf = (running: readonly Running[]): Promise<readonly Outcome[]> =>
  Promise.all(running.map(({ outcome }) => outcome))

/** The same steps on every rank as in the run. */
export const expectWholeSteps = async (bundle: string): Promise<void> => {
  const n = await numberIn(bundle, 'select count(*)::int from steps')
  const perRank = 'select rank, count(distinct step)::int as n from spans group by all order by 1'
  expect(await query(bundle, perRank)).toEqual([0, 1, 2, 3].map((rank) => ({ rank, n })))
}

export const STAGE = '(the [a-z ]+ of step \\d+|the pause between steps|[a-z_]+ of (layer \\d+, )?step \\d+)'

/** Everything that the bundle promises after a rank was lost. */
export const expectKept = async (bundle: string, status: string): Promise<void> => {
  expect(manifestOf(bundle)).toMatchObject({ status, summary: { ranks: 4 } })
  expect(await numberIn(bundle, 'select count(*)::int from steps')).toBeGreaterThan(0)
  expect(await numberIn(bundle, 'select count(distinct rank)::int from spans')).toBe(4)
  expect(segments()).toEqual([])
}
