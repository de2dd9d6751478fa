import { type ClientPort, createStoreClient } from './client.ts'
import { tell } from './messages.ts'

/** The page's one client of the store; ports come and go below it. */
export const client = createStoreClient((sentence) => tell('warning', sentence))

/**
 * Messages that come within this time of each other are taken together: a view asks several things of a step at once, and
 * would be drawn anew for each of the answers.
 */
const TOGETHER_MS = 4

/** A browser port as the client uses it. */
export const clientPort = (port: MessagePort): ClientPort => ({
  listen: (listener) => {
    let come: unknown[] = []
    const handOn = (): void => {
      const now = come
      come = []
      for (const data of now) listener(data)
    }
    // Assigning the handler also starts the port.
    port.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (come.length === 0) setTimeout(handOn, TOGETHER_MS)
      come.push(data)
    }
  },
  postMessage: (message) => port.postMessage(message),
  close: () => {
    port.onmessage = null
    port.close()
  },
})
