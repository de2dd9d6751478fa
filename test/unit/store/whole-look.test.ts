import { describe, expect, it } from 'vitest'
import { WholeLook } from '../../../main/store/whole-look.ts'

/** A look that takes `took` on a clock of the test, and counts. */
const counted = (took: number) => {
  let now = 0
  let looks = 0
  const look = new WholeLook(
    async () => {
      looks++
      now += took
      return looks
    },
    () => now,
  )
  return {
    look,
    pass: (ms: number): void => {
      now += ms
    },
  }
}

describe('a look at all of a bundle', () => {
  it('is taken once for what stands on disk', async () => {
    const { look, pass } = counted(100)
    const done = { version: '3 parts', growing: false }
    expect(await look.answer(done)).toBe(1)
    pass(1e9)
    expect(await look.answer(done)).toBe(1)
    expect(await look.answer({ ...done, version: '4 parts' })).toBe(2)
  })

  it('takes a small part of the time while a run goes on, and is exact at its end', async () => {
    const { look, pass } = counted(100)
    expect(await look.answer({ version: '1', growing: true })).toBe(1)
    pass(900)
    expect(await look.answer({ version: '2', growing: true })).toBe(1)
    pass(101)
    expect(await look.answer({ version: '3', growing: true })).toBe(2)
    expect(await look.answer({ version: '4', growing: false })).toBe(3)
  })

  it('is shared by all who ask while it is taken', async () => {
    let looks = 0
    let finish = (): void => {}
    const look = new WholeLook(() => {
      looks++
      return new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    const answers = ['1', '2', '3'].map((version) => look.answer({ version, growing: true }))
    finish()
    await Promise.all(answers)
    expect(looks).toBe(1)
  })

  it('that fails is taken again', async () => {
    let looks = 0
    const look = new WholeLook(async () => {
      looks++
      if (looks === 1) throw new Error('damaged')
      return looks
    })
    await expect(look.answer({ version: '1', growing: false })).rejects.toThrow('damaged')
    expect(await look.answer({ version: '1', growing: false })).toBe(2)
  })
})
