import { type ClientPort, createStoreClient } from './client.ts'
import { tell } from './messages.ts'

/** The page's one client of the store; ports come and go below it. */
export const client = createStoreClient((sentence) => tell('warning', sentence))

/** A browser port as the client uses it. */
export const clientPort = (port: MessagePort): ClientPort => ({
  listen: (listener) => {
    // Assigning the handler also starts the port.
    port.onmessage = ({ data }: MessageEvent<unknown>) => listener(data)
  },
  postMessage: (message) => port.postMessage(message),
  close: () => {
    port.onmessage = null
    port.close()
  },
})
