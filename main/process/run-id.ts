import { createHash } from 'node:crypto'
import { resolve } from 'node:path'

/**
 * Opaque name of a bundle towards windows: the same for a folder in every process and after a restart, and
 * no way back to the path.
 */
export const runIdOf = (bundle: string): string =>
  createHash('sha256').update(resolve(bundle)).digest('hex').slice(0, 24)
