import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { configs } from './arbitraries.ts'
import { addon, type Finished, finish, rowsOf, smallConfig, thrown } from './engine.ts'

type Row = Record<string, string>

/** What one rank's process recorded, rows as text. */
interface Recorded {
  readonly tables: Record<string, Row[]>
  readonly captures?: Record<string, string>
  readonly dropped?: number
  readonly error?: string
  readonly places?: readonly string[]
}

interface Started {
  readonly children: readonly ChildProcess[]
  readonly segment: string
  /** Undefined of a rank that was killed. */
  readonly recorded: Promise<readonly (Recorded | undefined)[]>
}

const runner = fileURLToPath(new URL('one-rank.mjs', import.meta.url))
const segments: string[] = []
const folders: string[] = []

/** Starts a process for each rank of a run. */
const start = (over: EngineConfig, env: NodeJS.ProcessEnv = {}): Started => {
  const config = { ...over, processes: true }
  const segment = `/dcpscope-test-${process.pid}-${randomBytes(4).toString('hex')}`
  segments.push(segment)
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-ranks-'))
  folders.push(folder)
  const file = join(folder, 'run.json')
  writeFileSync(file, JSON.stringify({ config, segment, clockBaseNs: String(process.hrtime.bigint()) }))
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
const filled = (child: ChildProcess | undefined): Promise<unknown> =>
  new Promise((resolve) => child?.stderr?.once('data', resolve))

const run = async (config: EngineConfig): Promise<readonly Recorded[]> => {
  const { recorded, segment } = start(config)
  const all = await recorded
  addon.unlinkSegment(segment)
  return all.map((one) => {
    if (one === undefined || one.error !== undefined) throw new Error(one?.error ?? 'a rank died')
    return one
  })
}

afterAll(() => {
  for (const segment of segments) addon.unlinkSegment(segment)
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const config: EngineConfig = smallConfig({
  ranks: 4,
  heads: 8,
  qLen: 2,
  contextLens: [0, 3, 900, 5000],
  pageSize: 64,
  captureSteps: [0, 2],
  captureLayers: [0, 1],
  needles: true,
})

const digests = (finished: Finished): Record<string, string> =>
  Object.fromEntries(
    finished.captures.flatMap(({ step, layer, rank, tensors }) =>
      tensors.map(({ name, data }) => [
        `${step} ${layer} ${rank} ${name}`,
        createHash('sha256').update(new Uint8Array(data)).digest('hex'),
      ]),
    ),
  )

/** Columns that do not depend on time. */
const timeless = (rows: readonly Record<string, unknown>[]): Row[] =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) => (name.endsWith('_ns') ? [] : [[name, String(value)]])),
    ),
  )

const variants: readonly [string, Partial<EngineConfig>][] = [
  ['ag_rs, fp32', { comm: 'ag_rs' }],
  ['ag_rs, bf16, wire fp32', { comm: 'ag_rs', kvDtype: 'bf16', wireFp32: true }],
  ['a2a, bf16', { comm: 'a2a', kvDtype: 'bf16' }],
  ['a2a, replicated q', { comm: 'a2a', replicateQ: true }],
  ['p2p, bf16', { comm: 'p2p', kvDtype: 'bf16' }],
  ['p2p, replicated q, sparse', { comm: 'p2p', replicateQ: true, topk: 64 }],
  ['ag_rs, fp8, empty rows NaN', { comm: 'ag_rs', kvDtype: 'fp8', emptyRow: 'nan' }],
  ['one rank', { ranks: 1 }],
]

/** Runs a configuration both ways; what they recorded must be the same. */
const expectSame = async (config: EngineConfig): Promise<void> => {
  const threads = await finish(config)
  const ranks = await run(config)
  expect(Object.assign({}, ...ranks.map((rank) => rank.captures))).toEqual(digests(threads))
  const tables: Record<string, Row[]> = Object.assign({}, ...ranks.map((rank) => rank.tables))
  for (const table of ['spans', 'rows', 'pages'] as const)
    for (let rank = 0; rank < ranks.length; rank++)
      expect(timeless(tables[`${table} ${rank}`] ?? [])).toEqual(
        timeless(rowsOf(threads.chunks, table, rank)),
      )
  for (const table of ['steps', 'events'] as const)
    expect(timeless(tables[`${table} -1`] ?? [])).toEqual(timeless(rowsOf(threads.chunks, table, -1)))
  expect(ranks.map(({ dropped }) => dropped)).toEqual(ranks.map(() => 0))
}

describe('ranks in processes', () => {
  it.each(variants)('record the same as ranks in threads, bit for bit (%s)', (_name, over) =>
    expectSame({ ...config, ...over }),
  )

  it('do so whatever the shape', async () => {
    const captured = configs.map((one) => ({ ...one, captureSteps: [1], captureLayers: [0] }))
    await fc.assert(fc.asyncProperty(captured, expectSame), { numRuns: 10 })
  }, 120_000)

  it('agree on when the last rank entered each collective, and no rank leaves before', async () => {
    for (const comm of ['ag_rs', 'a2a', 'p2p'] as const) {
      const ranks = await run({ ...config, comm })
      const bySeq = new Map<string, Row[]>()
      ranks.forEach(({ tables }, rank) => {
        for (const span of tables[`spans ${rank}`] ?? []) {
          const seq = span.collective_seq ?? '-1'
          if (seq !== '-1') bySeq.set(seq, [...(bySeq.get(seq) ?? []), span])
        }
      })
      expect(bySeq.size).toBe(3 * 2 * (comm === 'ag_rs' ? 3 : 2))
      for (const spans of bySeq.values()) {
        const last = Math.max(...spans.map((s) => Number(s.enter_ns)))
        expect(spans).toHaveLength(4)
        expect(new Set(spans.map((s) => s.stage)).size).toBe(1)
        for (const s of spans) {
          expect(Number(s.last_enter_ns)).toBe(last)
          expect(Number(s.start_ns) + Number(s.dur_ns)).toBeGreaterThanOrEqual(last)
        }
      }
    }
  })
})

const endless = { ...config, contextLens: [2000, 3000], steps: 100_000, captureSteps: [], checkRows: 0 }

/** What the ranks that are left say. */
const errors = async ({ recorded }: Started): Promise<string[]> =>
  (await recorded).flatMap((one) => (one?.error === undefined ? [] : [one.error]))

describe('a rank that does not come', () => {
  it('to a stage since it hangs is named by the others, with both stages', async () => {
    const scene = start(endless, { DCPSCOPE_TEST_FAULT: 'kv_append:2:5' })
    scene.children.forEach((child, rank) => {
      child.on('close', () => {
        if (rank === 0) scene.children[2]?.kill('SIGKILL')
      })
    })
    const said = await errors(scene)
    expect(said).toHaveLength(3)
    expect(said).toContainEqual(
      'ERR_ABSENT: rank 2 did not come to lse_all_gather of layer 0, step 5 within 5 s; it is in kv_append of layer 0, step 5',
    )
    for (const one of said)
      expect(one).toMatch(/^ERR_A(BSENT: rank 2 did not|BANDONED: another rank has ended)/)
  })

  it.each(['SIGSTOP', 'SIGKILL'] as const)('since it got %s is named by the others', async (signal) => {
    const scene = start(endless)
    await Promise.all(scene.children.map(filled))
    scene.children[1]?.kill(signal)
    scene.children[0]?.on('close', () => scene.children[1]?.kill('SIGKILL'))
    const said = await errors(scene)
    expect(said.filter((one) => one.startsWith('ERR_ABSENT'))).not.toEqual([])
    for (const one of said)
      expect(one).toMatch(/^ERR_A(BSENT: rank 1 did not|BANDONED: another rank has ended)/)
  })

  it('keeps nothing in the memory that all share', () => {
    for (const segment of segments) addon.unlinkSegment(segment)
    if (process.platform === 'linux')
      expect(readdirSync('/dev/shm').filter((name) => segments.includes(`/${name}`))).toEqual([])
  })
})

describe('a rank that cannot be one', () => {
  const member = { rank: 0, segment: '/dcpscope-test-none', creates: false, clockBaseNs: 0n }
  it.each([
    [{ processes: true }, undefined, /^ERR_CONFIG: processes: needs a rank of its own for this run/],
    [{ processes: false }, member, /^ERR_CONFIG: processes: must be true for the run of one rank/],
    [{ processes: true }, { ...member, rank: 2 }, /^ERR_CONFIG: rank: must be below ranks \(2\), got 2/],
    [{ processes: true }, member, /^ERR_ENGINE: cannot open the shared memory \/dcpscope-test-none: No such/],
  ])('%j as %o is refused', (over, one, says) => {
    expect(thrown(() => addon.createRun(smallConfig(over), one))).toMatch(says)
  })
})
