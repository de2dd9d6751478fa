import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { EngineConfig } from '../../app/run/engine-config.ts'
import { addon, captureOf, type Finished, finish, smallConfig, tensorOf } from './engine.ts'

const digest = (run: Finished): string => {
  const hash = createHash('sha256')
  for (const capture of run.captures)
    for (const { name, data } of capture.tensors)
      hash.update(`${capture.step} ${capture.layer} ${capture.rank} ${name}`).update(new Uint8Array(data))
  return hash.digest('hex')
}

const config: EngineConfig = smallConfig({
  ranks: 4,
  qLen: 2,
  contextLens: [0, 3, 900, 5000],
  pageSize: 64,
  captureSteps: [0, 2],
  captureLayers: [0, 1],
  needles: true,
})

describe('a fixed seed', () => {
  for (const comm of ['ag_rs', 'a2a', 'p2p'] as const)
    for (const kvDtype of ['fp32', 'bf16'] as const)
      it(`gives the same bytes on every run (${comm}, ${kvDtype})`, async () => {
        const first = digest(await finish({ ...config, comm, kvDtype }))
        for (let i = 0; i < 3; i++) expect(digest(await finish({ ...config, comm, kvDtype }))).toBe(first)
        expect(digest(await finish({ ...config, comm, kvDtype, seed: 2 }))).not.toBe(first)
      })

  it.skipIf(process.platform !== 'linux')('gives the same bytes on one core as on all', async () => {
    const split = { ...config, ranks: 1, heads: 4, contextLens: [20_000] }
    const file = join(tmpdir(), `dcpscope-one-core-${process.pid}.json`)
    const runner = fileURLToPath(new URL('one-run.mjs', import.meta.url))
    writeFileSync(file, JSON.stringify(split))
    const outOf = (run: Finished): string =>
      createHash('sha256')
        .update(new Uint8Array(tensorOf(captureOf(run, 0, 2, 1), 'merged').data))
        .digest('hex')
    const oneCore = execFileSync('taskset', ['-c', '0', process.execPath, runner, file], { encoding: 'utf8' })
    expect(oneCore.trim()).toBe(outOf(await finish(split)))
  })

  it('makes the same keys and queries with every instruction set', async () => {
    const runner = fileURLToPath(new URL('one-run.mjs', import.meta.url))
    const file = join(tmpdir(), `dcpscope-isa-${process.pid}.json`)
    writeFileSync(file, JSON.stringify({ ...config, kvDtype: 'bf16' }))
    const inputs = (simd: string): string =>
      execFileSync(process.execPath, [runner, file, 'kv', 'q'], {
        encoding: 'utf8',
        env: { ...process.env, DCPSCOPE_SIMD: simd },
      }).trim()
    expect(inputs('generic')).toBe(inputs('avx2'))
    expect(inputs('generic')).toBe(inputs(addon.cpu().simd))
  })
})

describe('p2p', () => {
  it('gives the bytes of a2a, which brings the same partials to the same merge', async () => {
    for (const kvDtype of ['fp32', 'bf16'] as const) {
      const [p2p, a2a] = [
        await finish({ ...config, comm: 'p2p', kvDtype }),
        await finish({ ...config, comm: 'a2a', kvDtype }),
      ]
      expect(digest(p2p)).toBe(digest(a2a))
    }
  })
})

describe('one rank', () => {
  it('leaves the partial as the merged output, bit for bit', async () => {
    for (const kvDtype of ['fp32', 'bf16'] as const) {
      const run = await finish({ ...config, ranks: 1, kvDtype, wireFp32: true })
      const capture = captureOf(run, 0, 2, 1)
      for (const name of ['out', 'out_kernel'])
        expect(new Uint8Array(tensorOf(capture, name).data)).toEqual(
          new Uint8Array(tensorOf(capture, 'merged').data),
        )
    }
  })

  it('gives the same bits whatever transport, interleave, page size and page order are configured', async () => {
    const one = { ...config, ranks: 1, captureSteps: [2], captureLayers: [1] }
    const variants: Partial<EngineConfig>[] = [
      { comm: 'a2a' },
      { replicateQ: true },
      { interleave: 16 },
      { pageSize: 32 },
      { shuffledPages: true },
    ]
    const bytes = (run: Finished): Uint8Array => new Uint8Array(tensorOf(captureOf(run, 0), 'merged').data)
    const expected = bytes(await finish(one))
    for (const over of variants) expect(bytes(await finish({ ...one, ...over }))).toEqual(expected)
  })
})
