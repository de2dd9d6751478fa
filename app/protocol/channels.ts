/**
 * Names of the lines between page, preload and main. Apart from the schemas, so that the preload, which is
 * read before each page, does not carry them.
 */

/** Type of the window message that brings the store's port to the page. */
export const STORE_PORT = 'dcpscope:store-port'

export const CHANNEL = {
  command: 'dcpscope:command',
  getState: 'dcpscope:get-state',
  state: 'dcpscope:state',
  requestPort: 'dcpscope:request-port',
  port: 'dcpscope:port',
  /** Paths of what a person dropped on the window; the page does not see them. */
  dropped: 'dcpscope:dropped',
} as const
