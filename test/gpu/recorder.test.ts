import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readDumps } from '../../main/dump/dump-files.ts'
import { checkMerge, checkTypes, noTorch, play } from '../unit/recorder/play.ts'

const SUITE = 'the tests of the recorder with torch on a GPU'

describe.skipIf(noTorch(SUITE, 'cuda') !== undefined)(SUITE, () => {
  it.each(['F32', 'BF16'] as const)(
    'records decode and merge of four ranks in %s, bit for bit',
    async (dtype) => {
      await checkMerge('cuda', dtype)
    },
  )

  it('records every type of the format', async () => {
    await checkTypes('cuda')
  })

  it('takes no memory of the GPU in steps that are not recorded', async () => {
    const { answer, folder } = await play('idle', 'cuda')
    expect(answer).toEqual({ allocations: 0, thread: false, wants: false, messages: [] })
    expect(readdirSync(folder)).toEqual([])
  })

  it('records the replays of a CUDA graph, and nothing while it is captured', async () => {
    const { answer, folder } = await play('graph', 'cuda')
    expect(answer.during).toBe(0)
    expect(answer.messages).toEqual([
      expect.stringContaining('a graph is being captured: record behind the replay'),
    ])
    const { groups, problems } = await readDumps([folder])
    expect(problems).toEqual([])
    expect(groups.map(({ step }) => step)).toEqual([1, 2, 3])
    for (const { step, ranks } of groups) {
      const dump = ranks.get(0)
      expect(dump?.info).toMatchObject({ graph: true, graphBatch: 4 })
      expect(new Set(await dump?.reader.values('lse'))).toEqual(new Set([2 * step]))
      await dump?.reader.close()
    }
  })

  it('records in the order of the stream that works, whatever happens to the memory behind it', async () => {
    const { answer, folder } = await play('stream', 'cuda')
    expect(answer).toEqual({ written: 20, dropped: 0, messages: [] })
    const { groups, problems } = await readDumps([folder])
    expect(problems).toEqual([])
    for (const { step, ranks } of groups) {
      const reader = ranks.get(0)?.reader
      expect(new Set(await reader?.values('lse'))).toEqual(new Set([step]))
      await reader?.close()
    }
  })
})
