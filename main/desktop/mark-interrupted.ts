import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { manifestSchema } from '../../app/trace/manifest.ts'

/**
 * Writes `interrupted` into the manifest of a bundle that still says running. For the one case in which no
 * store is there to do it. A bundle without a readable manifest is left as it is: nothing was promised in it.
 */
export const markInterrupted = (
  bundle: string,
  reason: string,
  complain: (sentence: string) => void,
): void => {
  const path = join(bundle, 'run.json')
  try {
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
    if (manifest.status !== 'running') return
    const { writer: _, ...kept } = manifest
    const marked = { ...kept, status: 'interrupted', error: reason, endedAt: new Date().toISOString() }
    writeFileSync(`${path}.new`, `${JSON.stringify(marked, null, 2)}\n`)
    renameSync(`${path}.new`, path)
  } catch (error) {
    complain(
      `the bundle ${bundle} is not marked interrupted: ${error instanceof Error ? error.message : error}`,
    )
  }
}
