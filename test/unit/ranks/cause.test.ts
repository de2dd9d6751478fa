import { describe, expect, it } from 'vitest'
import { type Cause, causeText } from '../../../main/ranks/cause.ts'

const cause = (over: Partial<Cause>): Cause => ({
  rank: 2,
  status: 'interrupted',
  what: 'died (SIGKILL)',
  code: 'ERR_ENGINE',
  ...over,
})

describe('why a group of ranks ended', () => {
  const place = 'decode_attn of layer 3, step 17'
  it('names the rank and its stage', () => {
    expect(causeText(cause({}), 4, place)).toBe(`rank 2 of 4 died (SIGKILL), last in ${place}`)
    expect(causeText(cause({ rank: 0 }), 1)).toBe('rank 0 died (SIGKILL)')
    const error = cause({ status: 'failed', what: 'out of memory', code: 'ERR_MEMORY' })
    expect(causeText(error, 4, place)).toBe(`rank 2 of 4 failed, last in ${place}: out of memory`)
  })

  it('is the sentence itself where that names a rank, or holds for all', () => {
    for (const code of ['ERR_ABSENT', 'ERR_POOL_FULL', 'ERR_CONFIG'])
      expect(causeText(cause({ status: 'failed', what: 'a sentence', code }), 4, place)).toBe('a sentence')
  })
})
