import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import type { NativeCapture, NativeTensor, RunFacts } from '../../main/engine/addon.ts'
import { addon } from './engine.ts'

/** Runs whose ranks are processes without a leader: as many of test/native/one-rank.mjs. */

export type Row = Record<string, string>

interface TensorFile extends Omit<NativeTensor, 'data'> {
  readonly step: number
  readonly layer: number
  readonly rank: number
  readonly file: string
}

/** What one rank's process recorded, rows as text. */
export interface Recorded {
  readonly tables: Record<string, Row[]>
  /** Digests of captured tensors by step, layer, rank and name. */
  readonly captures?: Record<string, string>
  readonly tensorFiles?: readonly TensorFile[]
  readonly dropped?: number
  readonly facts?: RunFacts
  readonly error?: string
  readonly places?: readonly string[]
}

export interface Started {
  readonly children: readonly ChildProcess[]
  readonly segment: string
  /** Undefined of a rank that was killed. */
  readonly recorded: Promise<readonly (Recorded | undefined)[]>
}

export interface Placing {
  readonly env?: NodeJS.ProcessEnv
  /** Of each rank. */
  readonly gpus?: readonly number[]
  /** Keeps captured tensors, not their digests alone. */
  readonly keep?: boolean
  /** Ranks meet as those of several machines do. */
  readonly network?: boolean
}

const runner = fileURLToPath(new URL('one-rank.mjs', import.meta.url))
/** Names of all shared memory that was asked for. */
export const segments: string[] = []
const folders: string[] = []

/** Starts a process for each rank of a run. */
export const startRanks = (over: EngineConfig, { env, gpus, keep, network }: Placing = {}): Started => {
  const config = { ...over, processes: true }
  const segment = `/dcpscope-test-${process.pid}-${randomBytes(4).toString('hex')}`
  segments.push(segment)
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-ranks-'))
  folders.push(folder)
  const file = join(folder, 'run.json')
  const clockBaseNs = String(process.hrtime.bigint())
  writeFileSync(file, JSON.stringify({ config, segment, clockBaseNs, gpus, keep, network }))
  const children = Array.from({ length: config.ranks }, (_, rank) =>
    spawn(process.execPath, [runner, file, String(rank)], { env: { ...process.env, ...env } }),
  )
  return { children, segment, recorded: Promise.all(children.map(recordedBy)) }
}

const recordedBy = async (child: ChildProcess): Promise<Recorded | undefined> => {
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (more: string) => {
    text += more
  })
  await new Promise((resolve) => child.on('close', resolve))
  return text === '' ? undefined : JSON.parse(text)
}

/** Resolves when the rank has filled its context. */
export const filled = (child: ChildProcess | undefined): Promise<unknown> =>
  new Promise((resolve) => child?.stderr?.once('data', resolve))

/** Runs all ranks to their end. */
export const runRanks = async (config: EngineConfig, placing?: Placing): Promise<readonly Recorded[]> => {
  const { recorded, segment } = startRanks(config, placing)
  const all = await recorded
  addon.unlinkSegment(segment)
  return all.map((one) => {
    if (one === undefined || one.error !== undefined) throw new Error(one?.error ?? 'a rank died')
    return one
  })
}

/** What the ranks that are left say. */
export const errorsOf = async ({ recorded }: Started): Promise<string[]> =>
  (await recorded).flatMap((one) => (one?.error === undefined ? [] : [one.error]))

/** Captures as a run in one process gives them, of ranks that kept theirs. */
export const capturesOf = (ranks: readonly Recorded[]): NativeCapture[] => {
  const captures = new Map<string, { step: number; layer: number; rank: number; tensors: NativeTensor[] }>()
  for (const { step, layer, rank, name, dtype, shape, file } of ranks.flatMap(
    (one) => one.tensorFiles ?? [],
  )) {
    const key = `${step} ${layer} ${rank}`
    const capture = captures.get(key) ?? { step, layer, rank, tensors: [] }
    captures.set(key, capture)
    const data = new Uint8Array(readFileSync(file)).buffer
    capture.tensors.push({ name, dtype, shape, data })
  }
  return [...captures.values()]
}

/** Columns that do not depend on time. */
export const timeless = (rows: readonly Record<string, unknown>[]): Row[] =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) => (name.endsWith('_ns') ? [] : [[name, String(value)]])),
    ),
  )

afterAll(() => {
  for (const segment of segments) addon.unlinkSegment(segment)
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
