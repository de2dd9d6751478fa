import type { SweepConfig } from '../../app/sweep/config.ts'
import type { SweepManifest } from '../../app/sweep/manifest.ts'
import type { Manifest } from '../../app/trace/manifest.ts'
import { readManifest } from '../store/manifest-file.ts'

/** What is measured, and where it goes. */
export interface SweepTask {
  readonly config: SweepConfig
  readonly folder: SweepFolder
  /** The sweep that the folder holds; undefined for a new one. */
  readonly begun: BegunSweep | undefined
}

export interface SweepFolder {
  readonly path: string
  readonly name: string
}

export interface BegunSweep {
  readonly manifest: Manifest
  readonly sweep: SweepManifest
}

/** The sweep of a bundle; undefined where it holds another run. Throws StoreProblem where it cannot be read. */
export const sweepIn = (bundle: string): BegunSweep | undefined => {
  const manifest = readManifest(bundle)
  return manifest.sweep === undefined ? undefined : { manifest, sweep: manifest.sweep }
}
