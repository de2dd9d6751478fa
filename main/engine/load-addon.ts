import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import { buildCommand } from '../process/build-command.ts'
import type { NativeAddon, NativeAttention } from './addon.ts'

/** Where the engine lies beside the bundled scripts; libraries cannot be loaded from within an asar archive. */
export const addonPath = (distDir: string): string =>
  join(distDir, 'native', 'dcpscope.node').replace(
    `${sep}app.asar${sep}`,
    () => `${sep}app.asar.unpacked${sep}`,
  )

/** Loads the native engine. Throws an Error that says what to do when it is missing or does not fit this machine. */
export const loadAddon = (distDir: string): NativeAddon & NativeAttention => {
  const path = addonPath(distDir)
  if (!existsSync(path))
    throw new Error(`the native engine is missing; build it with "${buildCommand()}" (looked for ${path})`)
  const loaded = required(path)
  if (!isAddon(loaded))
    throw new Error(
      `the native engine is of another version; build it anew with "${buildCommand()}" (${path})`,
    )
  return loaded
}

const required = (path: string): unknown => {
  try {
    return createRequire(path)(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `the native engine does not load here; build it anew with "${buildCommand()}" (${reason})`,
    )
  }
}

const FUNCTIONS = [
  'cpu',
  'cuda',
  'predictMemory',
  'createRun',
  'measureReadBandwidth',
  'attend',
  'unlinkSegment',
  'clockNs',
] as const

const isAddon = (loaded: unknown): loaded is NativeAddon & NativeAttention => {
  if (typeof loaded !== 'object' || loaded === null) return false
  const members = new Map(Object.entries(loaded))
  return (
    typeof members.get('version') === 'string' &&
    FUNCTIONS.every((name) => typeof members.get(name) === 'function')
  )
}
