import { existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { RunConfig } from '../../app/run/config.ts'
import { keyWidth } from '../../app/run/shape.ts'

/** Folder in which runs are kept when no other is named: the user's data folder of the platform. */
export const runsFolder = (
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
  home: string = homeFolder(),
): string => join(dataFolder(env, platform, home), 'dcpscope', 'runs')

/** HOME, which counts as not set when it is empty or relative, as the variables of XDG do. */
export const homeFolder = (fromEnvironment: string = homedir()): string =>
  isAbsolute(fromEnvironment) ? fromEnvironment : userInfo().homedir

const dataFolder = (
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  home: string,
): string => {
  // The XDG rule: an empty or relative value counts as not set.
  if (env.XDG_DATA_HOME?.startsWith('/')) return env.XDG_DATA_HOME
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return env.LOCALAPPDATA ?? join(home, 'AppData', 'Local')
  return join(home, '.local', 'share')
}

/** Short name of what is run: the preset, else the shape (`mla-16x576-4l`: heads x key width, layers; `gqa-32.8x128-4l`: heads and KV heads). */
export const runLabel = (config: RunConfig): string => {
  const { preset, heads, kvHeads, layers } = config.model
  const kind = kvHeads === undefined ? `mla-${heads}` : `gqa-${heads}.${kvHeads}`
  return preset ?? `${kind}x${keyWidth(config)}-${layers}l`
}

const two = (n: number): string => String(n).padStart(2, '0')

/** Local date and time, sortable and a legal file name on every platform: `2026-11-29-145732`. */
const stamp = (at: Date): string =>
  `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}-` +
  `${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`

/** Name of a new run, free in `folder`; the bundle is `folder/NAME.dcp`, which is not created here. */
export const newRunName = (
  folder: string,
  label: string,
  at: Date = new Date(),
  exists: (path: string) => boolean = existsSync,
): string => {
  const base = `${stamp(at)}-${label}`
  let name = base
  for (let n = 2; exists(bundlePath(folder, name)); n++) name = `${base}-${n}`
  return name
}

export const bundlePath = (folder: string, name: string): string => join(folder, `${name}.dcp`)
