import { describe, expect, it } from 'vitest'
import { type Outcome, standing } from '../../../renderer/state/standing.ts'

/** A store that answers when the test says so, and what the asker took. */
const slowStore = () => {
  const signals: AbortSignal[] = []
  const taken: Outcome<string>[] = []
  let answer: (data: string) => void = () => {}
  let refuse: (error: Error) => void = () => {}
  return {
    signals,
    taken,
    send: (signal: AbortSignal): Promise<string> => {
      signals.push(signal)
      return new Promise((resolve, reject) => {
        answer = resolve
        refuse = reject
      })
    },
    take: (outcome: Outcome<string>) => void taken.push(outcome),
    answer: async (data: string): Promise<void> => {
      answer(data)
      await Promise.resolve()
    },
    refuse: async (error: Error): Promise<void> => {
      refuse(error)
      await Promise.resolve()
    },
  }
}

describe('a question of a run that goes on', () => {
  it('waits for the answer on its way before it is asked again, and then only as it stands', async () => {
    const store = slowStore()
    const question = standing('step 1', store.send, store.take)
    question.again('step 2')
    question.again('step 3')
    expect(store.signals).toHaveLength(1)
    await store.answer('one')
    expect(store.taken).toEqual([{ mark: 'step 1', data: 'one' }])
    expect(store.signals).toHaveLength(2)
    await store.answer('three')
    expect(store.taken.at(-1)).toEqual({ mark: 'step 3', data: 'three' })
    expect(store.signals).toHaveLength(2)
    question.again('step 4')
    expect(store.signals).toHaveLength(3)
  })

  it('is not asked again while nothing has changed', async () => {
    const store = slowStore()
    const question = standing('', store.send, store.take)
    question.again('')
    await store.answer('one')
    question.again('')
    expect(store.signals).toHaveLength(1)
  })

  it('is asked again after it was refused', async () => {
    const store = slowStore()
    const question = standing('step 1', store.send, store.take)
    const error = new Error('no such run')
    await store.refuse(error)
    expect(store.taken).toEqual([{ mark: 'step 1', error }])
    question.again('step 2')
    await store.answer('two')
    expect(store.taken.at(-1)).toEqual({ mark: 'step 2', data: 'two' })
  })

  it('is taken back where nobody waits for it', async () => {
    const store = slowStore()
    const question = standing('step 1', store.send, store.take)
    question.again('step 2')
    question.stop()
    expect(store.signals[0]?.aborted).toBe(true)
    await store.answer('one')
    question.again('step 3')
    expect([store.taken, store.signals.length]).toEqual([[], 1])
  })
})

it('a question that is answered and then taken back is not asked any more', async () => {
  const store = slowStore()
  const question = standing('step 1', store.send, store.take)
  await store.answer('one')
  question.stop()
  question.again('step 2')
  expect(store.signals).toHaveLength(1)
})
