import { describe, expect, it } from 'vitest'
import { type Death, deathOf, deathSentence } from '../../../main/desktop/child.ts'

describe('the death of a process', () => {
  it.each<[string, number, { reason: string; exitCode: number } | undefined, Death]>([
    ['a SIGKILL', 9, { reason: 'killed', exitCode: 9 }, { how: 'killed', code: 9 }],
    [
      'a SIGSEGV, after which exit says 0',
      0,
      { reason: 'crashed', exitCode: 11 },
      { how: 'crashed', code: 11 },
    ],
    ['an uncaught error, which has no details', 1, undefined, { how: 'exit', code: 1 }],
    ['an end without being asked', 0, { reason: 'clean-exit', exitCode: 0 }, { how: 'exit', code: 0 }],
    ['too little memory', 0, { reason: 'oom', exitCode: 0 }, { how: 'memory' }],
    ['a failed launch', 0, { reason: 'launch-failed', exitCode: 1002 }, { how: 'launch' }],
    [
      'a reason that is newer than this code',
      4,
      { reason: 'memory-eviction', exitCode: 4 },
      { how: 'exit', code: 4 },
    ],
  ])('is told by both events together: %s', (_name, code, gone, death) => {
    expect(deathOf(code, gone)).toEqual(death)
  })

  it('becomes a sentence that names the process and the code', () => {
    expect(deathSentence('engine', { how: 'exit', code: 3 })).toBe(
      'The engine process ended unexpectedly (exit code 3).',
    )
    expect(deathSentence('store', { how: 'killed', code: 9 })).toBe(
      'The store process was killed (signal 9).',
    )
  })
})
