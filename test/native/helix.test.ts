import { describe, expect, it } from 'vitest'
import { localLength, owner } from '../../app/dcp/ownership.ts'
import { columnOf, NO_SLOT, pageOffset } from '../../app/dcp/pages.ts'
import { engineConfig } from '../../app/run/engine-config.ts'
import { issueText, parseRunConfig } from '../../app/run/parse.ts'
import { unsupported } from '../../app/run/support.ts'
import { capturedRun } from '../bench/diagnosis/engine-dumps.ts'
import { diagnosed } from '../unit/diagnosis/altered.ts'
import { addon, at, column, finish, worst } from './engine.ts'
import { capturedConfig, EXACT, observe } from './faults/observe.ts'

/** Tokens behind the prompt are dealt out anew, from rank 0 on. */

describe('a run that deals generated tokens out anew', () => {
  it('has them where the rule says, page by page, and is right', async () => {
    const prompts = [5, 16, 17, 40]
    const run = await observe(
      capturedConfig({
        contextLens: prompts,
        restarts: true,
        interleave: 4,
        qLen: 2,
        acceptedPerStep: 2,
        steps: 9,
      }),
    )
    expect(worst(column(run.run.chunks, 'steps', -1, 'max_rel_err'))).toBeLessThan(EXACT)
    for (const rank of [0, 1]) {
      expect([...run.values(rank, 'prompt_lens')]).toEqual(prompts)
      const slots = run.values(rank, 'slot_mapping')
      const table = run.values(rank, 'block_table')
      prompts.forEach((prompt, r) => {
        const paging = { dcp: 2, interleave: 4, page: 8, prompt }
        const length = prompt + 18
        expect(at(run.values(rank, 'seq_lens_local'), r)).toBe(localLength(length, rank, paging))
        for (const q of [0, 1]) {
          const token = length - 2 + q
          const page = at(table, (table.length / 4) * r + columnOf(token, paging))
          const right = owner(token, paging) === rank ? page * 8 + pageOffset(token, paging) : NO_SLOT
          expect(at(slots, 2 * r + q)).toBe(right)
        }
      })
    }
  })
})

describe('trtllm-helix', () => {
  const parsed = (faults: readonly object[] = []) => {
    const result = parseRunConfig({
      model: { heads: 8, kvLoraRank: 64, ropeDim: 16, layers: 1 },
      parallel: { tpSize: 4, dcpSize: 4, interleave: 32, comm: 'a2a' },
      cache: { pageSize: 32 },
      workload: { requests: [{ contextLen: 300 }, { contextLen: 137 }, { contextLen: 128 }], steps: 40 },
      serving: { backend: 'trtllm-helix' },
      check: { rows: 'all' },
      faults,
    })
    if (!result.ok) throw new Error(result.issues.map(issueText).join('; '))
    return result.config
  }

  it('runs, with the first generated block on rank 0', async () => {
    const config = parsed()
    expect(unsupported(config)).toEqual([])
    const run = await finish(engineConfig(config))
    expect(worst(column(run.chunks, 'steps', -1, 'max_rel_err'))).toBeLessThan(1e-2)
  })

  it('is healthy in the diagnosis, which finds a fault of it as of others', async () => {
    expect((await diagnosed(await capturedRun(addon, parsed()))).findings).toEqual([])
    for (const fault of ['coverage-gap', 'slot-map-ignores-dcp', 'length-views-swapped']) {
      const { findings } = await diagnosed(await capturedRun(addon, parsed([{ fault }])))
      expect(findings[0]?.fault).toBe(fault)
    }
  })
})
