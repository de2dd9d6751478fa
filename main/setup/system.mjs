// @ts-check
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError, step } from './report.mjs'
import { output, programPath, run } from './shell.mjs'

const OLDEST_NODE = /** @type {const} */ ([20, 19])

/** Refuses a Node that is too old. */
export const checkNode = () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]))
    throw new SetupError(`Node ${OLDEST_NODE.join('.')} or newer is needed, this is ${process.versions.node}`)
}

/** @param {readonly string[]} names */
const oneOf = (names) => names.some((name) => programPath(name) !== undefined)

/** Debian packages of the tools that build the engine and are not on this machine. */
export const missingBuildTools = () => [
  ...(oneOf(['c++', 'g++', 'clang++']) ? [] : ['g++']),
  ...(oneOf(['make', 'ninja']) ? [] : ['make']),
  ...(oneOf(['cmake']) ? [] : ['cmake']),
]

/**
 * The CUDA compiler: the one that DCPSCOPE_NVCC or CUDACXX names, on PATH, or where the toolkit installs itself;
 * undefined where there is none, or where DCPSCOPE_NVCC is `none`. A named one that is not there is an error.
 */
export const findNvcc = () => {
  const named = process.env.DCPSCOPE_NVCC || process.env.CUDACXX
  if (named === 'none') return undefined
  if (named !== undefined && named !== '') {
    const path = named.includes('/') ? (existsSync(named) ? named : undefined) : programPath(named)
    if (path === undefined) throw new SetupError(`no CUDA compiler ${named} (DCPSCOPE_NVCC or CUDACXX)`)
    return path
  }
  const homes = [process.env.CUDA_HOME, process.env.CUDA_PATH, '/usr/local/cuda'].filter(Boolean)
  const installed = homes.map((home) => join(String(home), 'bin', 'nvcc'))
  return programPath('nvcc') ?? installed.find((path) => existsSync(path))
}

/** Debian package that holds a library Electron links to. t64 is how newer Debian and Ubuntu name some of them. */
const LIBRARY_PACKAGES = /** @type {const} */ ([
  ['libnss3.so', ['libnss3']],
  ['libnssutil3.so', ['libnss3']],
  ['libsmime3.so', ['libnss3']],
  ['libnspr4.so', ['libnspr4']],
  ['libgtk-3.so.0', ['libgtk-3-0', 'libgtk-3-0t64']],
  ['libgdk-3.so.0', ['libgtk-3-0', 'libgtk-3-0t64']],
  ['libgbm.so.1', ['libgbm1']],
  ['libdrm.so.2', ['libdrm2']],
  ['libasound.so.2', ['libasound2', 'libasound2t64']],
  ['libatk-1.0.so.0', ['libatk1.0-0', 'libatk1.0-0t64']],
  ['libatk-bridge-2.0.so.0', ['libatk-bridge2.0-0', 'libatk-bridge2.0-0t64']],
  ['libatspi.so.0', ['libatspi2.0-0', 'libatspi2.0-0t64']],
  ['libcups.so.2', ['libcups2', 'libcups2t64']],
  ['libdbus-1.so.3', ['libdbus-1-3']],
  ['libexpat.so.1', ['libexpat1']],
  ['libglib-2.0.so.0', ['libglib2.0-0', 'libglib2.0-0t64']],
  ['libgobject-2.0.so.0', ['libglib2.0-0', 'libglib2.0-0t64']],
  ['libgio-2.0.so.0', ['libglib2.0-0', 'libglib2.0-0t64']],
  ['libpango-1.0.so.0', ['libpango-1.0-0']],
  ['libcairo.so.2', ['libcairo2']],
  ['libX11.so.6', ['libx11-6']],
  ['libXcomposite.so.1', ['libxcomposite1']],
  ['libXdamage.so.1', ['libxdamage1']],
  ['libXext.so.6', ['libxext6']],
  ['libXfixes.so.3', ['libxfixes3']],
  ['libXrandr.so.2', ['libxrandr2']],
  ['libxcb.so.1', ['libxcb1']],
  ['libxkbcommon.so.0', ['libxkbcommon0']],
  ['libudev.so.1', ['libudev1']],
])

/** Debian packages that Electron's executable needs and this machine lacks. @param {string} executable */
export const missingLibraries = (executable) => {
  if (process.platform !== 'linux') return []
  const missing = (output('ldd', [executable]) ?? '').match(/^\s*(\S+) => not found/gm) ?? []
  const names = missing.map((line) => line.trim().split(' ')[0] ?? '')
  const packages = names.map((library) => {
    const entry = LIBRARY_PACKAGES.find(([so]) => so === library)
    return entry === undefined ? library : available(entry[1])
  })
  return [...new Set(packages)]
}

/** The first of the names that this system's package lists know. @param {readonly string[]} names */
const available = (names) =>
  names.find((name) => /^\s+Candidate: (?!\(none\))/m.test(output('apt-cache', ['policy', name]) ?? '')) ??
  names[0] ??
  ''

/**
 * Installs Debian packages as root; otherwise says in one line how.
 * @param {() => readonly string[]} missing looked up again after the package lists are fresh
 * @param {string} why
 */
export const installPackages = async (missing, why) => {
  const wanted = missing()
  if (wanted.length === 0) return
  const line = `apt-get install -y --no-install-recommends ${wanted.join(' ')}`
  if (process.platform !== 'linux' || programPath('apt-get') === undefined)
    throw new SetupError(
      `${why} needs: ${wanted.join(', ')}; install them with this system's package manager and run again`,
    )
  if (process.getuid?.() !== 0)
    throw new SetupError(`${why} needs system packages; run this, then try again:\n  sudo ${line}`)
  await step(`installing system packages for ${why}: ${wanted.join(' ')}`, async () => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    await run('apt-get', ['update', '-qq'], { env, failure: 'apt-get update' })
    const found = missing()
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...found], {
      env,
      failure: `apt-get install ${found.join(' ')}`,
    })
  })
  const still = missing()
  if (still.length > 0) throw new SetupError(`${why} still lacks ${still.join(', ')} after the installation`)
}
