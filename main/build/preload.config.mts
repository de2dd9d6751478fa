import { PRELOAD } from './entries.mjs'
import { nodeBundle } from './node-bundle.mjs'

/** The preload alone: a sandboxed one cannot require a shared chunk. */
export default nodeBundle(PRELOAD, 'dist')
