import { afterEach, describe, expect, it, vi } from 'vitest'
import type { EngineEvent } from '../../../app/protocol/engine.ts'
import { untilPoisoned } from '../../../main/engine/poisoned.ts'

afterEach(() => vi.useRealTimers())

const ended = (code: string): EngineEvent => ({
  type: 'ended',
  runId: 'r',
  status: 'failed',
  error: 'the GPU failed in decode_attn of rank 1, layer 0, step 3: an illegal memory access',
  code,
})

/** Everything that happens, in order, when the engine reports `event`. */
const watch = (event: EngineEvent): unknown[] => {
  vi.useFakeTimers()
  const seen: unknown[] = []
  const report = untilPoisoned(
    (posted) => seen.push(posted),
    (sentence) => seen.push(sentence),
    (exit) => seen.push(exit),
  )
  report(event)
  vi.runAllTimers()
  return seen
}

describe('an engine process whose device failed', () => {
  it('reports the run, says on stderr what happened, and ends with 3', () => {
    const event = ended('ERR_DEVICE')
    expect(watch(event)).toEqual([event, expect.stringContaining('decode_attn of rank 1'), 3])
  })

  it.each([ended('ERR_ENGINE'), { type: 'pong', seq: 1 } as const])('lives on after %j', (event) => {
    expect(watch(event)).toEqual([event])
  })
})
