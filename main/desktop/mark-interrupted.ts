import { interrupted, readManifest, writeManifest } from '../store/manifest-file.ts'

/**
 * Writes `interrupted` into the manifest of a bundle that still says running, where nobody else is left to do it: the
 * store died, or the process that measured a sweep. A bundle whose manifest cannot be read or written is left as it is.
 */
export const markInterrupted = (
  bundle: string,
  reason: string,
  complain: (sentence: string) => void,
): void => {
  try {
    const manifest = readManifest(bundle)
    if (manifest.status === 'running') writeManifest(bundle, interrupted(manifest, reason))
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    complain(`the interrupted run could not be marked: ${cause}`)
  }
}
