// @ts-check
/** What lies in the pack for servers: copied into a folder that needs no npm and no Node of the system. */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SetupError } from './report.mjs'
import { output, programPath, ROOT, run } from './shell.mjs'

/** Bundles that the command line starts. */
const ENTRIES = ['cli.js', 'engine-host.js', 'rank-host.js']
/** What they leave outside. */
const EXTERNAL = '@duckdb/node-api'
const BINDINGS = '@duckdb/node-bindings-linux-x64'
/** Folders whose imports end up in these bundles. */
const BUNDLED = ['app', 'main/cli', 'main/dump', 'main/engine', 'main/process', 'main/ranks', 'main/store']
const HEADERS = /** @type {const} */ ([
  ['node-api-headers', 'include'],
  ['node-addon-api', ''],
])
const BENCHMARKS = ['gpu.bench.mjs', 'gpu-table.mjs', 'h200-best.json', 'comm.bench.mjs', 'comm-figures.mjs']

/** Fills `folder`. @param {string} folder @param {{ built: boolean }} options `built`: with the compiled engine */
export const fillPack = async (folder, { built }) => {
  copyProcesses(folder)
  const packages = copyPackages(folder)
  await copyNode(folder)
  copySources(folder)
  for (const script of readdirSync(join(ROOT, 'main/setup/server')))
    copyFileSync(join(ROOT, 'main/setup/server', script), join(folder, script))
  for (const [name, below] of HEADERS)
    copyTree(join('node_modules', name, below), join(folder, 'include', name), /\.h$/)
  copyLicenses(folder, [...packages, ...importedPackages(), ...HEADERS.map(([name]) => name)])
  await stripped(join(folder, 'node_modules', BINDINGS, 'libduckdb.so'), '--strip-unneeded')
  if (built) copyBuilt(folder)
}

/** @param {string} from relative to the root @param {string} to @param {RegExp} files names of those wanted */
const copyTree = (from, to, files) =>
  cpSync(join(ROOT, from), to, {
    recursive: true,
    filter: (path) => files.test(basename(path)) || statSync(path).isDirectory(),
  })

/** The bundles, and the chunks that they load. @param {string} folder */
const copyProcesses = (folder) => {
  const dist = join(ROOT, 'dist')
  const seen = new Set()
  const copy = (/** @type {string} */ file) => {
    if (seen.has(file)) return
    seen.add(file)
    const to = join(folder, 'dist', file)
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(join(dist, file), to)
    for (const [, next = ''] of readFileSync(join(dist, file), 'utf8').matchAll(/require\("(\.[^"]+)"\)/g))
      copy(join(dirname(file), next))
  }
  for (const entry of ENTRIES) copy(entry)
}

/** @param {string} name @returns {{ dependencies?: Record<string, string> }} */
const manifestOf = (name) =>
  JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8'))

/** The packages that stay outside the bundles, with what they need. @param {string} folder */
const copyPackages = (folder) => {
  /** @type {Set<string>} */
  const names = new Set()
  const add = (/** @type {string} */ name) => {
    if (names.has(name)) return
    names.add(name)
    for (const needed of Object.keys(manifestOf(name).dependencies ?? {})) add(needed)
  }
  for (const name of [EXTERNAL, BINDINGS]) add(name)
  for (const name of names)
    copyTree(
      join('node_modules', name),
      join(folder, 'node_modules', name),
      /^(?!.*\.d\.ts$).*\.(js|json|node|so)$/,
    )
  return names
}

/** Packages that the bundled sources import. */
const importedPackages = () => {
  const sources = BUNDLED.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' }).map((file) => join(room, file)),
  ).filter((file) => file.endsWith('.ts'))
  const imported = sources.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/ from '((?:@[^/']+\/)?[^./'][^/']*)/g)].map(
      ([, name = '']) => name,
    ),
  )
  return new Set(imported.filter((name) => !name.startsWith('node:')))
}

/** @param {string} folder @param {readonly string[]} packages */
const copyLicenses = (folder, packages) => {
  for (const name of new Set(packages)) {
    const home = join(ROOT, 'node_modules', name)
    const file = readdirSync(home).find((entry) => /^licen[cs]e/i.test(entry))
    if (file === undefined) throw new SetupError(`no license goes along with the package ${name}`)
    copyFileSync(join(home, file), join(folder, 'licenses', `${name.replace('/', '-')}.txt`))
  }
}

/** Libraries that every Linux with the C library of GNU has. */
const SYSTEM_LIBRARIES =
  /^(linux-vdso|libdl|libpthread|librt|libm|libc|libgcc_s|libstdc\+\+|.*\/ld-linux-x86-64)\.so/

/** The Node that goes along. */
const packedNode = () => realpathSync(process.env.DCPSCOPE_PACK_NODE ?? process.execPath)

/** Why this machine cannot make a pack, and what to do; undefined when it can. */
export const packProblem = () => {
  const missing = ['tar', 'xz', 'strip'].filter((name) => programPath(name) === undefined)
  if (missing.length > 0)
    return `the pack is made with ${missing.join(' and ')}: apt-get install tar xz-utils binutils`
  const node = packedNode()
  const libraries = (output('ldd', [node]) ?? '').split('\n').map((line) => line.trim().split(' ')[0] ?? '')
  const other = libraries.filter((library) => library !== '' && !SYSTEM_LIBRARIES.test(library))
  if (other.length > 0)
    return `${node} needs libraries that servers do not have (${other.join(', ')}); set DCPSCOPE_PACK_NODE to a Node of nodejs.org`
  if (licenseOf(node) === undefined)
    return `the license of ${node} is not beside it; name its file with DCPSCOPE_NODE_LICENSE`
  return undefined
}

/** @param {string} folder */
const copyNode = async (folder) => {
  const node = packedNode()
  mkdirSync(join(folder, 'bin'), { recursive: true })
  mkdirSync(join(folder, 'licenses'), { recursive: true })
  const copy = join(folder, 'bin', 'node')
  copyFileSync(node, copy)
  chmodSync(copy, 0o755)
  await stripped(copy)
  if (output(copy, ['--version']) !== `${output(node, ['--version'])}`)
    throw new SetupError(`the copy of ${node} does not run`)
  copyFileSync(licenseOf(node) ?? '', join(folder, 'licenses', 'node.txt'))
}

/** File with the license of a Node. @param {string} node */
const licenseOf = (node) => {
  const home = dirname(dirname(node))
  return [
    process.env.DCPSCOPE_NODE_LICENSE ?? join(home, 'LICENSE'),
    join(dirname(node), 'LICENSE'),
    join(home, 'share/doc/nodejs/LICENSE'),
    join(home, 'share/doc/nodejs/copyright'),
  ].find((path) => existsSync(path))
}

/** @param {string} file @param {...string} options */
const stripped = (file, ...options) => run('strip', [...options, file], { failure: `strip ${file}` })

/** What build.sh compiles. @param {string} folder */
const copySources = (folder) => {
  copyTree('native', join(folder, 'native'), /\.(cpp|h|cu|cuh|cmake|md)$|^CMakeLists\.txt$/)
  mkdirSync(join(folder, 'test/bench'), { recursive: true })
  for (const file of BENCHMARKS)
    copyFileSync(join(ROOT, 'test/bench', file), join(folder, 'test/bench', file))
  for (const page of ['config.md', 'sweep.md', 'dump.md'])
    copyFileSync(join(ROOT, 'docs', page), join(folder, page))
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

const BUILT = [
  'dist/native/dcpscope.node',
  'dist/native/dcpscope_cuda.so',
  'build/cuda/dcpscope_gpu_tests',
  'build/cuda/dcpscope_gpu_bench',
]

/** @param {string} folder */
const copyBuilt = (folder) => {
  for (const file of BUILT.filter((path) => existsSync(join(ROOT, path)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(join(ROOT, file), join(folder, file))
  }
}
