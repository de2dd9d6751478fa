import { ENTRIES } from './entries.mjs'
import { nodeBundle } from './node-bundle.mjs'

/** Electron main, engine host, store host and command line. */
export default nodeBundle(ENTRIES, 'dist')
