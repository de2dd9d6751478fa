// @ts-check
import { buildAll } from './build-steps.mjs'
import { packApp } from './package-app.mjs'
import { runScript } from './report.mjs'

const HELP = `
npm run dist [-- ARGUMENTS]
Builds the packaged app with electron-builder into release/ (default: an unpacked folder for this system, without any
network). ARGUMENTS go to electron-builder, e.g. --linux AppImage deb, --win nsis, --mac dmg: these are for users and need the
official Electron of that system.`

runScript(async () => {
  const args = process.argv.slice(2)
  if (args.includes('--help')) {
    process.stdout.write(`${HELP.trim()}\n`)
    return 0
  }
  await buildAll()
  return packApp(args)
})
