import { expect, it } from 'vitest'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { runTitle } from '../../../main/store/run-title.ts'

const titleOf = (given: unknown): string => {
  const parsed = parseRunConfig(given)
  if (!parsed.ok) throw new Error(parsed.issues.map(({ path, message }) => `${path} ${message}`).join())
  return runTitle(parsed.config)
}

it('tells a sparse or quantised run from a dense one over bf16', () => {
  const model = { preset: 'tiny' }
  expect(titleOf({ model })).toBe('tiny, DCP 4, ag_rs, 4 requests of 1 to 1000 tokens')
  expect(titleOf({ model, cache: { kvDtype: 'fp8_ds_mla' }, workload: { topk: 64 } })).toBe(
    'tiny, DCP 4, fp8_ds_mla, top-k 64, ag_rs, 4 requests of 1 to 1000 tokens',
  )
})
