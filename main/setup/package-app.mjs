// @ts-check
import { cpSync, existsSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { FuseV1Options, FuseVersion, flipFuses } from '@electron/fuses'
import { electronRuntime } from './electron-runtime.mjs'
import { SetupError, say } from './report.mjs'
import { ROOT, run, runForeground } from './shell.mjs'

const BUILDER = join('node_modules', 'electron-builder', 'cli.js')
const UNPACKED = join(ROOT, 'release', 'linux-unpacked')
const STAGED = join(ROOT, 'build', 'electron-dist')

/** A plain copy of the runtime: what starts a checkout in the one of closed networks would come before the packaged app. @param {string} dist */
const stage = (dist) => {
  rmSync(STAGED, { recursive: true, force: true })
  cpSync(dist, STAGED, { recursive: true, verbatimSymlinks: true })
  rmSync(join(STAGED, 'resources', 'app'), { recursive: true, force: true })
  return STAGED
}

/** Arguments of electron-builder for an unpacked folder of the runtime that is here. @param {{ path: string, version: string }} runtime */
const unpackedArguments = ({ path, version }) => [
  '--dir',
  '--publish',
  'never',
  `--config.electronDist=${relative(ROOT, stage(dirname(path)))}`,
  `--config.electronVersion=${version}`,
]

/** Packages what is built. @param {readonly string[]} args for electron-builder; none: an unpacked folder */
export const packApp = async (args) => {
  const runtime = await electronRuntime()
  const official = runtime.source.startsWith('official')
  if (!official && args.length > 0)
    throw new SetupError(
      `packages for users need the official Electron; here is only: ${runtime.source}. Without arguments an unpacked folder is built, for this machine`,
      3,
    )
  if (!official)
    say(`packaging with Electron ${runtime.version} (${runtime.source}): for tests, not for users`)
  return runForeground(process.execPath, [BUILDER, ...(args.length > 0 ? args : unpackedArguments(runtime))])
}

/**
 * The packaged app for end-to-end tests: the same folder with a second program beside the real one, in which a debugger may
 * attach. Nothing else differs.
 * @returns {Promise<string>} path of that program
 */
export const packedForTests = async () => {
  if (process.platform !== 'linux') throw new SetupError('the packaged app is tested on Linux only', 3)
  await run(process.execPath, [BUILDER, ...unpackedArguments(await electronRuntime())], {
    failure: 'electron-builder',
  })
  const [real, twin] = [join(UNPACKED, 'dcpscope'), join(UNPACKED, 'dcpscope-under-test')]
  if (!existsSync(real)) throw new SetupError('electron-builder made no release/linux-unpacked/dcpscope', 3)
  await copyFile(real, twin)
  await flipFuses(twin, {
    version: FuseVersion.V1,
    [FuseV1Options.EnableNodeCliInspectArguments]: true,
  })
  return twin
}
