import { afterEach, beforeEach } from 'vitest'
import { Store } from '../../../main/store/store.ts'
import { type Scratch, scratchFolder } from './sample.ts'

/** Gives each test of a file a store and a folder of its own; both are gone behind it. */
export const freshStore = (take: (store: Store, scratch: Scratch) => void): void => {
  let end: () => Promise<void>
  beforeEach(() => {
    const store = new Store()
    const scratch = scratchFolder()
    end = async () => {
      await store.close()
      scratch.remove()
    }
    take(store, scratch)
  })
  afterEach(() => end())
}
