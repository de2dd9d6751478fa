import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { StoreParams } from '../../../app/protocol/store.ts'
import type { Store } from '../../../main/store/store.ts'
import { freshStore } from './fresh-store.ts'
import { eventChunk, fakeEngine, type Scratch } from './sample.ts'

let scratch: Scratch
let store: Store
freshStore((opened, folder) => {
  store = opened
  scratch = folder
})

const NAN: StoreParams<'find'> = {
  run: 'run-1',
  ...{ stages: [], page: null, words: ['nan'], step: null, layer: null, rank: null, request: null, limit: 5 },
}

it('what reading takes more memory for than is set ends with an error, and works again with more', async () => {
  const engine = fakeEngine()
  store.attachEngine(engine.storeEnd)
  engine.begin(join(scratch.path, 'a.dcp'))
  engine.chunk(eventChunk(['It is NaN']))
  engine.end()
  await engine.reply('closed')
  const found = async (): Promise<number> => (await store.request('find', NAN)).events.length

  // Before anything was read, and behind that.
  await store.handle({ type: 'limits', memoryMb: 1 })
  await expect(found()).rejects.toThrow(/memory/i)
  await store.handle({ type: 'limits', memoryMb: 512 })
  expect(await found()).toBe(1)
  await store.handle({ type: 'limits', memoryMb: 0 })
  expect(await found()).toBe(1)
})
