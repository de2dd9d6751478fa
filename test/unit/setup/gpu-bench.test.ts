import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'dcpscope-gpu-bench-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const best = z
  .object({
    ceilings: z.object({ readBandwidth: z.number(), matrixRate: z.number() }),
    shapes: z.array(
      z.object({
        kv: z.string(),
        heads: z.number(),
        qLen: z.number(),
        requests: z.number(),
        context: z.number(),
        us: z.number(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync('test/bench/h200-best.json', 'utf8')))

const answer = z.object({
  summary: z.record(z.string(), z.object({ shapes: z.number(), reached: z.number().optional() })),
  rows: z.array(
    z.object({
      name: z.string(),
      us: z.number(),
      bound: z.enum(['memory', 'matrix']),
      bestUs: z.number().optional(),
      bestRatio: z.number().optional(),
      limitUs: z.number(),
      limitRatio: z.number(),
      ok: z.boolean().optional(),
    }),
  ),
})

/** Joins lines of a benchmark that ran elsewhere. */
const joined = (lines: readonly unknown[], ...args: string[]) => {
  const file = join(folder, 'lines.jsonl')
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'))
  const done = spawnSync(process.execPath, ['test/bench/gpu.bench.mjs', '--input', file, ...args], {
    encoding: 'utf8',
  })
  return { code: done.status, err: done.stderr, out: done.stdout }
}
const rowsOf = (out: string) => answer.parse(JSON.parse(out)).rows
const card = (readBandwidth: number, cublasRate: number, matrixUnitRate = 0) => ({
  ceilings: { readBandwidth, cublasRate, matrixUnitRate },
})
const sameCard = card(best.ceilings.readBandwidth, best.ceilings.matrixRate)

describe('the benchmark of the GPU kernels', () => {
  it('has the best known time of 80 shapes', () => {
    expect(new Set(best.shapes.map(({ us, ...shape }) => JSON.stringify(shape))).size).toBe(80)
  })

  it('finds the best known as fast as itself, and no shape faster than its limit', () => {
    const { code, out } = joined([sameCard, ...best.shapes])
    expect(code).toBe(0)
    const rows = rowsOf(out)
    expect(rows).toHaveLength(80)
    for (const row of rows) {
      expect(row.bestRatio).toBeCloseTo(1, 10)
      expect(row.ok).toBe(true)
      expect(row.limitRatio).toBeGreaterThan(0)
      expect(row.limitRatio).toBeLessThan(1)
    }
  })

  it('takes the higher of each rate that was measured more than once', () => {
    const { readBandwidth, matrixRate } = best.ceilings
    const before = card(readBandwidth, matrixRate / 2)
    const after = card(readBandwidth / 2, matrixRate)
    for (const row of rowsOf(joined([before, ...best.shapes, after]).out))
      expect(row.bestRatio).toBeCloseTo(1, 10)
  })

  it('scales shapes bound by memory by the read bandwidth, the others by the matrix rate', () => {
    const { readBandwidth, matrixRate } = best.ceilings
    const slower = card(readBandwidth / 2, matrixRate / 4)
    const memory = { kv: 'bf16', heads: 16, qLen: 1, requests: 64, context: 32768, us: 1096 }
    const matrix = { kv: 'bf16', heads: 128, qLen: 2, requests: 64, context: 32768, us: 7880 }
    const rows = rowsOf(joined([slower, memory, matrix]).out)
    expect(rows.map((row) => row.bestUs)).toEqual([548 * 2, 1970 * 4])
    expect(rows.map((row) => row.bestRatio)).toEqual([1, 1])
  })

  it('takes the larger of bytes and operations for the limit', () => {
    const shape = { kv: 'bf16', heads: 1, qLen: 1, requests: 1, context: 1000, us: 10 }
    const [memory] = rowsOf(joined([card(1e12, 1e15), shape]).out)
    expect(memory?.bound).toBe('memory')
    expect(memory?.limitUs).toBeCloseTo((1000 * 1152 + 2176) / 1e6, 10)
    const [matrix] = rowsOf(joined([card(1e12, 1e14), { ...shape, heads: 1000 }]).out)
    expect(matrix?.bound).toBe('matrix')
    expect(matrix?.limitUs).toBeCloseTo((2 * 1000 * 1088 * 1000) / 1e8, 10)
  })

  it('takes the rate of the matrix units where there is no cuBLAS', () => {
    const shape = { kv: 'bf16', heads: 128, qLen: 2, requests: 64, context: 32768, us: 1970 }
    const { out, err } = joined([card(best.ceilings.readBandwidth, 0, best.ceilings.matrixRate), shape])
    expect(rowsOf(out)[0]?.bestRatio).toBeCloseTo(1, 10)
    expect(err).toContain('TFLOP/s by the matrix units')
  })

  it('says which shapes are below what is wanted', () => {
    const slower = best.shapes.map((shape) => ({ ...shape, us: shape.us / 0.8 }))
    const { out, err } = joined([sameCard, ...slower])
    const { summary } = answer.parse(JSON.parse(out))
    expect(summary.bf16).toMatchObject({ shapes: 48, reached: 48 })
    expect(summary.fp8_ds_mla).toMatchObject({ shapes: 32, reached: 0 })
    expect(err).toContain('fp8_ds_mla: 0 of 32 shapes reach 1 of the best')
  })

  it('keeps shapes of which no best is known', () => {
    const shape = { kv: 'fp8', heads: 16, qLen: 1, requests: 16, context: 4096, us: 20 }
    const row = rowsOf(joined([sameCard, shape]).out)[0]
    expect(row).toMatchObject({ name: 'fp8-h16-q1-r16-c4096' })
    expect(row?.bestUs).toBeUndefined()
  })

  it('filters by parts of the name, and refuses those that no shape has', () => {
    expect(rowsOf(joined([sameCard, ...best.shapes], '--filter', 'bf16-h64-q2').out)).toHaveLength(8)
    expect(rowsOf(joined([sameCard, ...best.shapes], '--filter', 'r1-c4096').out)).toHaveLength(10)
    expect(joined([sameCard, ...best.shapes], '--filter', 'int4').code).toBe(2)
  })

  it('refuses lines without ceilings, and unknown arguments, in one line', () => {
    const { code, err } = joined([...best.shapes])
    expect(code).toBe(3)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(joined([], '--nonsense').code).toBe(2)
  })

  it('names the command that builds it, in a checkout and in the pack for servers', () => {
    const root = join(folder, 'checkout')
    cpSync('test/bench', join(root, 'test', 'bench'), { recursive: true })
    const bare = () => {
      const program = join(root, 'test', 'bench', 'gpu.bench.mjs')
      const { status, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' })
      return [status, stderr.replace(root, 'ROOT')]
    }
    const missing = 'dcpscope: ROOT/build/cuda/dcpscope_gpu_bench is missing;'
    expect(bare()).toEqual([3, `${missing} npm run bench -- gpu builds it\n`])
    writeFileSync(join(root, 'build.sh'), '')
    expect(bare()).toEqual([3, `${missing} ./build.sh --tests builds it\n`])
  })

  it('says in one line what is wrong with input or output', () => {
    const shape = { kv: 'bf16', heads: 16, qLen: 1, requests: 1, context: 4096, us: 20 }
    const refused = (lines: readonly string[], ...args: string[]) => {
      const file = join(folder, 'given.jsonl')
      writeFileSync(file, lines.join('\n'))
      const { status, stderr, stdout } = spawnSync(
        process.execPath,
        ['test/bench/gpu.bench.mjs', '--input', file, ...args],
        { encoding: 'utf8' },
      )
      expect(stdout).toBe('')
      return { code: status, line: stderr.trim().split('\n').at(-1)?.replace(file, 'FILE'), stderr }
    }
    const card = JSON.stringify(sameCard)
    const line = JSON.stringify(shape)
    const missing = join(folder, 'nowhere', 'lines.jsonl')
    expect(refused([card, line], '--input', missing)).toMatchObject({
      code: 2,
      stderr: `dcpscope: --input: ${missing} cannot be read: ENOENT: no such file or directory\n`,
    })
    expect(refused([card, 'noise', line.slice(0, 30)])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^dcpscope: --input: .*, line 3: is not JSON\n$/),
    })
    expect(refused([card, JSON.stringify({ us: 20 })]).line).toBe(
      'dcpscope: --input: FILE, line 2: has no known kv',
    )
    expect(refused([card, JSON.stringify({ ...shape, kv: 'int4' })]).line).toContain('no known kv')
    expect(refused([card, JSON.stringify({ ...shape, context: 0 })]).line).toContain('no context')
    const unwritable = refused([card, line], '--json', missing)
    expect(unwritable.code).toBe(2)
    expect(unwritable.line).toBe(
      `dcpscope: --json: ${missing} cannot be written: ENOENT: no such file or directory`,
    )
  })
})
