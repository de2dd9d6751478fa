import { describe, expect, it } from 'vitest'
import { Latest } from '../../../main/store/latest.ts'

/** Work that ends when it is told to. */
const work = () => {
  let finish: (value: string) => void = () => undefined
  let fail: (error: Error) => void = () => undefined
  const begun: AbortSignal[] = []
  const make = (unwanted: AbortSignal): Promise<string> => {
    begun.push(unwanted)
    return new Promise((resolve, reject) => {
      finish = resolve
      fail = reject
      unwanted.addEventListener('abort', () => reject(new Error('ended')))
    })
  }
  return { make, begun, finish: (value: string) => finish(value), fail: (error: Error) => fail(error) }
}

describe('answers that are kept', () => {
  it('are made once for all who ask meanwhile and afterwards', async () => {
    const { make, begun, finish } = work()
    const latest = new Latest<string, string>(2)
    const asked = [latest.of('a', make), latest.of('a', make, new AbortController().signal)]
    finish('x')
    expect(await Promise.all([...asked, latest.of('a', make)])).toEqual(['x', 'x', 'x'])
    expect(begun).toHaveLength(1)
  })

  it('are fewer where they are large, and always the latest', async () => {
    const latest = new Latest<string, string>(9, { most: 5, sizeOf: (text) => text.length })
    const made: string[] = []
    const ask = (key: string) =>
      latest.of(key, async () => {
        made.push(key)
        return key
      })
    for (const key of ['aa', 'bbb', 'aa', 'cc', 'aa', 'bbb', 'eighteen', 'eighteen', 'aa', 'aa'])
      expect(await ask(key)).toBe(key)
    expect(made).toEqual(['aa', 'bbb', 'cc', 'bbb', 'eighteen', 'aa'])
  })

  it('are those to the latest questions', async () => {
    const latest = new Latest<string, string>(2)
    const made: string[] = []
    const ask = (key: string) =>
      latest.of(key, async () => {
        made.push(key)
        return key
      })
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) expect(await ask(key)).toBe(key)
    expect(made).toEqual(['a', 'b', 'c', 'b'])
  })

  it('are made anew after a refusal', async () => {
    const latest = new Latest<string, string>(2)
    const refused = latest.of('a', () => Promise.reject(new Error('no')))
    await expect(refused).rejects.toThrow('no')
    expect(await latest.of('a', async () => 'yes')).toBe('yes')
  })
})

describe('work', () => {
  it('goes on while one still waits, and ends with the last', async () => {
    const { make, begun } = work()
    const latest = new Latest<string, string>(2)
    const [first, second] = [new AbortController(), new AbortController()]
    const answers = [first, second].map(({ signal }) => latest.of('a', make, signal))
    first.abort(new Error('gone'))
    await expect(answers[0]).rejects.toThrow('gone')
    expect(begun[0]?.aborted).toBe(false)
    second.abort(new Error('gone too'))
    await expect(answers[1]).rejects.toThrow('gone too')
    expect(begun[0]?.aborted).toBe(true)
  })

  it('that was ended gives nobody its end for an answer', async () => {
    const { make, begun, finish } = work()
    const latest = new Latest<string, string>(2)
    const gone = new AbortController()
    const left = latest.of('a', make, gone.signal)
    gone.abort()
    const asked = latest.of('a', make, new AbortController().signal)
    await expect(left).rejects.toThrow()
    finish('x')
    expect(await asked).toBe('x')
    expect(begun).toHaveLength(2)
  })

  it('never ends under one who does not say when it ceases to wait', async () => {
    const { make, begun, finish } = work()
    const latest = new Latest<string, string>(2)
    const gone = new AbortController()
    const left = latest.of('a', make, gone.signal)
    const stays = latest.of('a', make)
    gone.abort()
    await expect(left).rejects.toThrow()
    expect(begun[0]?.aborted).toBe(false)
    finish('x')
    expect(await stays).toBe('x')
  })
})
