import { describe, expect, it } from 'vitest'
import { loadCase } from '../../../app/diagnosis/case.ts'
import { PartialReference } from '../../../app/diagnosis/partial-reference.ts'
import { loadRow } from '../../../app/diagnosis/rows.ts'
import { dumpsOf } from '../../bench/diagnosis/engine-dumps.ts'
import { at } from '../../native/engine.ts'
import { healthyRun } from './altered.ts'
import { PLAIN_REFERENCE } from './plain-reference.ts'

describe('partials in fp64', () => {
  it('of a prefix are those of its parts merged, also of more keys than are held at once', async () => {
    const run = await healthyRun({
      model: { heads: 4, kvLoraRank: 16, ropeDim: 16 },
      parallel: { tpSize: 1, dcpSize: 1 },
      workload: { requests: [{ contextLen: 40_000 }] },
    })
    const [group] = (await dumpsOf(run)).groups
    if (group === undefined) throw new Error('nothing was captured')
    const c = await loadCase(group)
    const { q } = await loadRow(c, 0)
    const [rank] = c.ranks
    const context = rank && new PartialReference(c, PLAIN_REFERENCE).context(rank, 0, q)
    const all = await context?.prefixes([100, 40_001])
    const few = await context?.prefixes([100])
    expect(Array.from(all?.get(100)?.lse ?? [])).toEqual(Array.from(few?.get(100)?.lse ?? []))
    const [whole, first, rest] = [all?.get(40_001), few?.get(100), await context?.range(100, 40_001)]
    if (whole === undefined || first === undefined || rest === undefined) throw new Error('no partial')
    for (let head = 0; head < 4; head++)
      expect(Math.exp(at(whole.lse, head))).toBeCloseTo(
        Math.exp(at(first.lse, head)) + Math.exp(at(rest.lse, head)),
        4,
      )
  })
})
