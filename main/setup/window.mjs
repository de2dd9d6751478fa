// @ts-check
import { electronRuntime } from './electron-runtime.mjs'
import { runForeground } from './shell.mjs'
import { installPackages, missingLibraries } from './system.mjs'

/** The runtime with the system libraries that it needs. */
export const readyRuntime = async () => {
  const runtime = await electronRuntime()
  await installPackages(() => missingLibraries(runtime.path), 'the window')
  return runtime
}

/** Chromium's sandbox cannot be set up by root. */
export const rootArguments = () =>
  process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : []

/** Only newer Electrons choose Wayland by themselves where there is no X server. @param {NodeJS.ProcessEnv} env */
const displayArguments = (env) =>
  process.platform === 'linux' && !env.DISPLAY && env.WAYLAND_DISPLAY ? ['--ozone-platform=wayland'] : []

/** Opens the app and waits for its end. @param {readonly string[]} args @param {NodeJS.ProcessEnv} [env] */
export const openWindow = async (args, env = process.env) => {
  const { path } = await readyRuntime()
  const { ELECTRON_RUN_AS_NODE: _, ...clean } = env
  return runForeground(path, ['.', ...rootArguments(), ...displayArguments(env), ...args], clean)
}
