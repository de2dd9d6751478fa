import { describe, expect, it } from 'vitest'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { LocalRanks } from '../../../main/ranks/local-ranks.ts'
import type { RankProcess } from '../../../main/ranks/rank-process.ts'

const assignment = (rank: number) => {
  const parsed = parseRunConfig({}, 'tiny')
  if (!parsed.ok) throw new Error('the preset is no configuration')
  return { rank, world: 2, address: '127.0.0.1', port: 1, token: '', config: parsed.config }
}

const ended = (end: Awaited<RankProcess['ended']>): RankProcess => ({
  ended: Promise.resolve(end),
  stop: () => {},
  kill: () => {},
})

describe('processes of ranks that end', () => {
  it('are told of by what they said, and else by how they died', async () => {
    const ends = [
      { how: 'died (exit code 3)', over: { type: 'over', status: 'failed', error: 'no engine' } },
      { how: 'died (SIGSEGV)' },
      { how: 'died (exit code 0)', over: { type: 'over', status: 'complete' } },
    ] as const
    const told: string[] = []
    const ranks = new LocalRanks(
      ({ rank }) => ended(ends[rank] ?? { how: '' }),
      (rank, how) => told.push(`rank ${rank} ${how}`),
    )
    for (const rank of [0, 1, 2]) ranks.start(assignment(rank))
    await ranks.end()
    expect(told).toEqual(['rank 0 ended: no engine', 'rank 1 died (SIGSEGV)', 'rank 2 died (exit code 0)'])
  })
})
