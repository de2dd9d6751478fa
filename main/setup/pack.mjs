// @ts-check
import { buildAll } from './build-steps.mjs'
import { electronRuntime, OFFICIAL_DIST } from './electron-runtime.mjs'
import { runScript, SetupError } from './report.mjs'
import { runForeground } from './shell.mjs'

const HELP = `
npm run pack [-- ARGUMENTS]
Builds the package for users with electron-builder into release/ (default: an unpacked folder for this system).
Needs the official Electron. ARGUMENTS go to electron-builder, e.g. --linux AppImage.`

runScript(async () => {
  const args = process.argv.slice(2)
  if (args.includes('--help')) {
    process.stdout.write(`${HELP.trim()}\n`)
    return 0
  }
  await buildAll()
  const runtime = await electronRuntime()
  if (!runtime.source.startsWith('official'))
    throw new SetupError(
      `a package for users needs the official Electron; here is only: ${runtime.source}`,
      3,
    )
  return runForeground(process.execPath, [
    'node_modules/electron-builder/cli.js',
    // What was downloaded already serves this system; other targets need an Electron of their own.
    ...(args.length > 0 ? args : ['--dir', `--config.electronDist=${OFFICIAL_DIST}`]),
  ])
})
