import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { configs } from './arbitraries.ts'
import { addon, type Finished, finish, rowsOf, smallConfig, thrown } from './engine.ts'
import { faultOf } from './faults/observe.ts'
import { errorsOf, filled, type Row, runRanks, segments, startRanks, timeless } from './rank-processes.ts'

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

const variants: readonly [string, Partial<EngineConfig>][] = [
  ['ag_rs, fp32', { comm: 'ag_rs' }],
  ['ag_rs, bf16, wire fp32', { comm: 'ag_rs', kvDtype: 'bf16', wireFp32: true }],
  ['a2a, bf16', { comm: 'a2a', kvDtype: 'bf16' }],
  ['a2a, replicated q', { comm: 'a2a', replicateQ: true }],
  ['p2p, bf16', { comm: 'p2p', kvDtype: 'bf16' }],
  ['p2p, replicated q, sparse', { comm: 'p2p', replicateQ: true, topk: 64 }],
  ['ag_rs, fp8, empty rows NaN', { comm: 'ag_rs', kvDtype: 'fp8', emptyRow: 'nan' }],
  [
    'a2a, lse in bf16 by heads, padded, weight 0 multiplied',
    {
      comm: 'a2a',
      kvDtype: 'bf16',
      lseType: 'bf16',
      lseLayout: '[H,T]',
      paddedHeads: 64,
      zeroWeight: 'multiplied',
    },
  ],
  ['ag_rs, KV heads', { comm: 'ag_rs', kvHeads: 4, headDim: 48 }],
  ['p2p, KV heads, fp8', { comm: 'p2p', kvHeads: 1, headDim: 64, kvDtype: 'fp8' }],
  ['one rank', { ranks: 1 }],
  [
    'a draft',
    { draft: true, captureLayers: [0, 2], faults: [faultOf('slot-map-ignores-dcp', { draft: true })] },
  ],
  ['tokens dealt out anew', { restarts: true, interleave: 16 }],
  [
    'faults together',
    {
      faults: [
        faultOf('coverage-gap', { ranks: [1], amount: 2 }),
        faultOf('lse-base-mismatch', { ranks: [0], steps: [1] }),
        faultOf('slot-map-ignores-dcp'),
      ],
    },
  ],
]

/** Runs a configuration both ways; what they recorded must be the same. */
const expectSame = async (config: EngineConfig, network = false): Promise<void> => {
  const threads = await finish(config)
  const ranks = await runRanks(config, { network })
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

  it.each(variants)('do so over the network as well (%s)', (_name, over) =>
    expectSame({ ...config, ...over }, true),
  )

  it('do so whatever the shape', async () => {
    const captured = configs.map((one) => ({ ...one, captureSteps: [1], captureLayers: [0] }))
    const ways = fc.asyncProperty(captured, fc.boolean(), expectSame)
    await fc.assert(ways, { numRuns: 10 })
  }, 120_000)

  it('agree on when the last rank entered each collective, and no rank leaves before', async () => {
    for (const comm of ['ag_rs', 'a2a', 'p2p'] as const) {
      const ranks = await runRanks({ ...config, comm })
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

describe('a rank that does not come', () => {
  it('to a stage since it hangs is named by the others, with both stages', async () => {
    const scene = startRanks(endless, { env: { DCPSCOPE_TEST_FAULT: 'kv_append:2:5' } })
    scene.children.forEach((child, rank) => {
      child.on('close', () => {
        if (rank === 0) scene.children[2]?.kill('SIGKILL')
      })
    })
    const said = await errorsOf(scene)
    expect(said).toHaveLength(3)
    expect(said).toContainEqual(
      'ERR_ABSENT: rank 2 did not come to lse_all_gather of layer 0, step 5 within 5 s; it is in kv_append of layer 0, step 5',
    )
    for (const one of said)
      expect(one).toMatch(/^ERR_A(BSENT: rank 2 did not|BANDONED: another rank has ended)/)
  })

  it.each([
    ['SIGSTOP', false],
    ['SIGKILL', false],
    ['SIGSTOP', true],
    ['SIGKILL', true],
  ] as const)('since it got %s is named by the others (over the network: %s)', async (signal, network) => {
    const scene = startRanks(endless, { network })
    await Promise.all(scene.children.map(filled))
    scene.children[1]?.kill(signal)
    scene.children[0]?.on('close', () => scene.children[1]?.kill('SIGKILL'))
    const said = await errorsOf(scene)
    expect(said.filter((one) => one.startsWith('ERR_ABSENT'))).not.toEqual([])
    for (const one of said)
      expect(one).toMatch(
        /^ERR_A(BSENT: (rank 1 did not|the connection of rank 1 to rank 0 broke)|BANDONED: another rank has ended)/,
      )
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
    [
      { processes: true },
      { ...member, rank: 1, network: { address: '127.0.0.1', port: 1 } },
      /^ERR_ENGINE: rank 0 cannot be reached at 127\.0\.0\.1 port 1 \(Connection refused\); ranks on several machines need/,
    ],
    [
      { processes: true },
      { ...member, rank: 1, network: { address: 'nowhere', port: 1 } },
      /^ERR_CONFIG: network\.address: must be a numeric address, got nowhere/,
    ],
    [
      { processes: true },
      { ...member, creates: true, network: { address: '192.0.2.1', port: 0 } },
      /^ERR_ENGINE: cannot listen for the other ranks at 192\.0\.2\.1: /,
    ],
  ])('%j as %o is refused', (over, one, says) => {
    expect(thrown(() => addon.createRun(smallConfig(over), one))).toMatch(says)
  })
})
