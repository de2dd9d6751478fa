import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseSweepConfig } from '../../../app/sweep/parse.ts'
import {
  compare,
  type Figures,
  figuresOf,
  kernelsOf,
  type Point,
  type Span,
  spreadOf,
  tableOf,
  timingsOf,
} from '../../bench/comm-figures.mjs'

const folder = mkdtempSync(join(tmpdir(), 'dcpscope-comm-bench-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const P2P: Point = {
  ranks: 2,
  comm: 'p2p',
  wireDtype: 'out',
  replicateQ: true,
  tokens: 4,
  heads: 128,
}

/** A span from `start` to `end`, in microseconds; a collective where `last`, when the last rank entered it, is given. */
const span = (rank: number, stage: string, [start, end, last]: readonly number[], layer = 0): Span => ({
  rank,
  step: 0,
  layer,
  stage,
  start_ns: (start ?? 0) * 1000,
  dur_ns: ((end ?? 0) - (start ?? 0)) * 1000,
  bytes: 1000,
  enter_ns: last === undefined ? null : (start ?? 0) * 1000,
  last_enter_ns: last === undefined ? null : last * 1000,
})

describe('the figures of an exchange', () => {
  it('are those of the slowest rank from when the last one came, with waiting apart', () => {
    const { exchange, totalUs } = figuresOf(P2P, [
      span(0, 'merge', [100, 190, 150]),
      span(1, 'merge', [150, 200, 150]),
    ])
    expect(exchange.us).toEqual({ median: 50, p10: 50, p90: 50, samples: 1 })
    expect(exchange.waitUs).toMatchObject({ median: 25, p10: 5, p90: 45, samples: 2 })
    expect(exchange.ownClockUs.median).toBe(50)
    expect(exchange).toMatchObject({ bytes: 1000, gbPerS: 1000 / 50 / 1e3 })
    expect(totalUs).toBe(50)
  })

  it('hold what lies between stages, all waits apart, and count what is received once', () => {
    const { exchange, stages } = figuresOf({ ...P2P, comm: 'ag_rs' }, [
      span(0, 'lse_all_gather', [100, 120, 110]),
      span(0, 'lse_correct', [125, 130]),
      span(0, 'out_reduce_scatter', [131, 160, 141]),
      span(1, 'lse_all_gather', [110, 121, 110]),
      span(1, 'lse_correct', [125, 139]),
      span(1, 'out_reduce_scatter', [141, 162, 141]),
    ])
    // 60 from begin to end, of which 10 and 10 are waiting; 52 on the other rank.
    expect(exchange.us.median).toBe(52)
    expect(exchange.waitUs).toMatchObject({ median: 10, samples: 2 })
    expect(exchange.ownClockUs.median).toBe(52)
    expect(exchange.bytes).toBe(2000)
    expect(Object.keys(stages)).toEqual(['lse_all_gather', 'lse_correct', 'out_reduce_scatter'])
    expect(stages.lse_correct).toMatchObject({ us: { median: 9.5 }, slowestUs: { median: 14 } })
    expect(stages.out_reduce_scatter).toMatchObject({ us: { median: 20 }, waitUs: { median: 5 } })
  })

  it('are medians over layers and steps, and add the gather of queries where there is one', () => {
    const layers = [10, 30, 20].flatMap((us, layer) => [
      span(0, 'q_all_gather', [0, 7, 2], layer),
      span(0, 'merge', [100, 100 + us, 100], layer),
    ])
    const { exchange, stages, totalUs } = figuresOf({ ...P2P, replicateQ: false }, layers)
    expect(exchange.us).toEqual({ median: 20, p10: 12, p90: 28, samples: 3 })
    expect(stages.q_all_gather).toMatchObject({ us: { median: 5 }, waitUs: { median: 2 } })
    expect(totalUs).toBe(25)
  })

  it('are none of a run without an exchange', () => {
    expect(() => figuresOf(P2P, [span(0, 'q_all_gather', [0, 1, 0])])).toThrow('recorded no exchange')
    expect(spreadOf([])).toBeNull()
  })
})

/** Figures with these times and nothing else that counts. */
const figures = (over: Partial<Point>, us: number, totalUs = us): Figures => {
  const spread = { median: us, p10: us, p90: us, samples: 1 }
  return {
    ...P2P,
    ...over,
    exchange: { us: spread, waitUs: spread, ownClockUs: spread, bytes: 1, gbPerS: 1 },
    totalUs,
    stages: {},
  }
}

describe('p2p beside what goes through NCCL', () => {
  it('is compared with the fastest of them at the same place', () => {
    const all = [
      figures({ comm: 'ag_rs' }, 40),
      figures({ comm: 'ag_rs', wireDtype: 'fp32' }, 50, 30),
      figures({ comm: 'a2a' }, 25, 60),
      figures({}, 10, 15),
      figures({ comm: 'a2a', tokens: 8 }, 1),
    ]
    expect(compare(all)).toEqual([
      {
        ...{ ranks: 2, tokens: 4, replicateQ: true },
        ...{ p2pUs: 10, bestNccl: 'a2a', bestNcclUs: 25, ratio: 0.4, ownClockRatio: 0.4, totalRatio: 0.5 },
      },
    ])
    const lines = tableOf(all, compare(all)).split('\n')
    expect(lines).toHaveLength(2 + all.length)
    expect(lines[5]).toMatch(/\| 2 \| 4 \| 512 \| replicated \| p2p \|.*\| 0\.40 \|$/)
    expect(lines[3]).toMatch(/\| ag_rs fp32 \|.*\| {2}\|$/)
  })
})

describe('timings for sweeps', () => {
  it('are of collectives from when the last rank came, equal messages once', () => {
    const gathered = { ...P2P, replicateQ: false }
    const ofP2p = figuresOf(gathered, [span(0, 'q_all_gather', [0, 9, 1]), span(0, 'merge', [20, 30, 22])])
    const ofA2a = [8, 12].map((us) =>
      figuresOf({ ...gathered, comm: 'a2a' }, [
        span(0, 'q_all_gather', [0, us, 0]),
        span(0, 'out_all_to_all', [20, 27, 20]),
        span(0, 'merge', [30, 31]),
      ]),
    )
    const timings = timingsOf([ofP2p, ...ofA2a])
    expect(timings).toEqual([
      { collective: 'p2p', ranks: 2, bytes: 1000, us: 8 },
      { collective: 'all_gather', ranks: 2, bytes: 1000, us: 10 },
      { collective: 'all_to_all', ranks: 2, bytes: 1000, us: 7 },
    ])
    expect(parseSweepConfig({ collectives: timings }, 'tiny')).toMatchObject({ ok: true })
  })
})

describe('kernels of exchanges alone', () => {
  it('are read from what the program of the tests prints', () => {
    const text = [
      'ok ops/time/tokens64/merge-p2p-flags | 4.20 us, stamped 4.31 us',
      'FAIL ops/time/tokens64/merge | something else',
      'ok ops/p2p/bf16 | 5 shapes',
      '2 passed, 1 failed',
    ]
    expect(kernelsOf(text.join('\n'))).toEqual([
      { name: 'merge-p2p-flags', tokens: 64, us: 4.2, stampedUs: 4.31 },
    ])
  })
})

const bench = (args: readonly string[], program = 'test/bench/comm.bench.mjs') => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

describe('the benchmark of the transports', () => {
  it('measures runs of the product, here with ranks on CPUs, and claims nothing of them', () => {
    const file = join(folder, 'comm.json')
    const { code, stdout, stderr } = bench([
      ...['--device', 'cpu', '--ranks', '2', '--tokens', '2', '--steps', '3', '--layers', '2'],
      ...['--comm', 'ag_rs-fp32,p2p', '--json', file],
    ])
    expect([code, stderr.split('\n')[0]]).toEqual([
      0,
      'dcpscope: ranks on CPUs: this tries the benchmark, its times are none of GPUs',
    ])
    const document = JSON.parse(stdout)
    expect(document).toMatchObject({
      benchmark: 'comm',
      kind: 'cpu',
      comparisons: [],
      timings: [],
      failed: [],
    })
    expect(
      document.figures.map((one: Figures) => [
        one.comm,
        one.wireDtype,
        one.replicateQ,
        one.exchange.us.samples,
        'q_all_gather' in one.stages,
      ]),
    ).toEqual([
      ['ag_rs', 'fp32', false, 6, true],
      ['p2p', 'out', false, 6, true],
      ['ag_rs', 'fp32', true, 6, false],
      ['p2p', 'out', true, 6, false],
    ])
    // Of each of 2 x 128 rows the half of the other rank: 512 values in bf16, and an lse.
    expect(document.figures[1].exchange.bytes).toBe(2 * 64 * (512 * 2 + 4))
    expect(document.figures[1].clockUncertaintyUs).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(stdout)
  })

  it.each([
    [['--ranks', '2,x'], '--ranks: must be whole numbers from 2 to 64, got "x"'],
    [['--tokens', '0'], '--tokens: must be whole numbers from 1 to 4096, got "0"'],
    [['--comm', 'nccl'], '--comm: must be ag_rs or ag_rs-fp32 or a2a or p2p, got "nccl"'],
    [['--device', 'tpu'], '--device: must be cuda or cpu, got "tpu"'],
    [['--nonsense'], "Unknown option '--nonsense'"],
  ])('refuses %j in one line', (args, says) => {
    const { code, stdout, stderr } = bench(args)
    expect([code, stdout, stderr.split('\n').length]).toEqual([2, '', 2])
    expect(stderr).toContain(says)
  })

  it('says what is missing: a GPU, and what is to be built', () => {
    const doctor = spawnSync(process.execPath, ['dist/cli.js', 'doctor', '--json'], { encoding: 'utf8' })
    const { cuda } = JSON.parse(doctor.stdout).engines
    if (!cuda.available)
      expect(bench([])).toEqual({
        code: 3,
        stdout: '',
        stderr: `dcpscope: the transports need GPUs: ${cuda.reason}\n`,
      })
    const root = join(folder, 'checkout')
    cpSync('test/bench', join(root, 'test', 'bench'), { recursive: true })
    const { code, stderr } = bench([], join(root, 'test', 'bench', 'comm.bench.mjs'))
    expect([code, stderr]).toEqual([
      3,
      `dcpscope: ${join(root, 'dist/cli.js')} is missing; npm run build builds it\n`,
    ])
  })
})
