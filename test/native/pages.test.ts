import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoreResult } from '../../app/protocol/store.ts'
import { Store } from '../../main/store/store.ts'
import './engine.ts'

const run = promisify(execFile)
const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

let folder: string
const store = new Store()
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-pages-'))
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What the window says of the block tables of both sides, as the kernels of rank 0 got them and as the run kept them. */
const summaries = async (scenario: string): Promise<Record<string, StoreResult<'pageSummary'>>> => {
  const out = join(folder, scenario)
  // A broken side ends with 1.
  await run(process.execPath, [CLI, 'run', '--scenario', scenario, '--out', out]).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 1)) throw error
  })
  const told: Record<string, StoreResult<'pageSummary'>> = {}
  for (const side of ['broken', 'fixed']) {
    const opened = await store.handle({ type: 'open', seq: 1, folder: join(out, `${side}.dcp`) })
    if (opened?.type !== 'opened') throw new Error(JSON.stringify(opened))
    const [capture] = (await store.request('runInfo', { run: opened.run })).captures
    if (capture === undefined) throw new Error('nothing was captured')
    told[side] = await store.request('pageSummary', { source: { dump: opened.run, ...capture, rank: 0 } })
    told[`${side} recorded`] = await store.request('pageSummary', {
      source: { run: opened.run, step: capture.step, rank: 0 },
    })
  }
  return told
}

const brokenOf = (summary: StoreResult<'pageSummary'> | undefined): string[] =>
  (summary?.checks ?? []).filter(({ state }) => state === 'broken').map(({ name }) => name)

describe('block tables of runs with faults', () => {
  it.each([
    ['table-width-mismatch', ['missing', 'width']],
    ['table-width-mismatch-stretched', ['double', 'slots']],
    ['slot-map-ignores-dcp', ['slots']],
    ['stale-graph-metadata', ['lengths']],
    ['length-views-swapped', ['missing', 'lengths']],
  ])('%s breaks %j, and nothing of it is broken in the fixed run', async (scenario, broken) => {
    const told = await summaries(scenario)
    expect(brokenOf(told.broken)).toEqual(broken)
    expect(told.fixed?.checks.map(({ state }) => state)).toEqual(Array(6).fill('holds'))
    // The run itself keeps a right table: what is wrong is what its kernels got.
    expect(brokenOf(told['broken recorded'])).toEqual([])
    expect(brokenOf(told['fixed recorded'])).toEqual([])
  })
})

describe('block tables of runs that deal generated tokens out anew', () => {
  it('are right on every rank at every step, recorded and captured', async () => {
    const config = join(folder, 'helix.json')
    const out = join(folder, 'helix.dcp')
    const steps = 150
    writeFileSync(
      config,
      JSON.stringify({
        model: { preset: 'tiny', layers: 1 },
        serving: { backend: 'trtllm-helix' },
        parallel: { tpSize: 4, dcpSize: 4, interleave: 32, comm: 'a2a' },
        cache: { pageSize: 32 },
        workload: { requests: [{ contextLen: 333 }, { contextLen: 128 }], steps, warmup: 0 },
        capture: { steps: [0, steps - 1] },
        check: { rows: 'none' },
      }),
    )
    await run(process.execPath, [CLI, 'run', config, '--device', 'cpu', '--out', out])
    const opened = await store.handle({ type: 'open', seq: 1, folder: out })
    if (opened?.type !== 'opened') throw new Error(JSON.stringify(opened))
    for (let rank = 0; rank < 4; rank++) {
      for (const step of [0, 40, 100, steps - 1]) {
        const summary = await store.request('pageSummary', { source: { run: opened.run, step, rank } })
        expect([step, rank, brokenOf(summary)]).toEqual([step, rank, []])
      }
      for (const step of [0, steps - 1]) {
        const source = { dump: opened.run, step, layer: 0, rank }
        const { checks, prompts } = await store.request('pageSummary', { source })
        expect(checks.map(({ state }) => state)).toEqual(Array(6).fill('holds'))
        expect([...(prompts ?? [])]).toEqual([333, 128])
      }
    }
  })
})
