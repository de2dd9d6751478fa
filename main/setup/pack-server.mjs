// @ts-check
import { mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildAddon, buildCuda, buildGpuPrograms, buildProcesses, installModules } from './build-steps.mjs'
import { runScript, SetupError, step } from './report.mjs'
import { fillPack, packProblem } from './server-pack.mjs'
import { ROOT, run } from './shell.mjs'
import { checkNode } from './system.mjs'

const HELP = `
npm run pack:server [-- --out DIR] [--level N] [--built]
Packs the command line for GPU servers without Node, npm, network or display into one file of at most 50 MB:
release/dcpscope-server-VERSION-linux-x64.tar.xz. There: unpack it, ./build.sh, ./dcpscope run.
--out DIR   folder of the file instead of release
--level N   of xz, 0 to 9 (default 6); lower is faster and bigger
--built     also compiles the engines and the GPU tests here and packs them, so that build.sh is not needed on a
            server whose C library is as new as this machine's`

const MAX_BYTES = 50e6

const options = () => {
  try {
    const { values } = parseArgs({
      options: {
        out: { type: 'string', default: join(ROOT, 'release') },
        level: { type: 'string', default: '6' },
        built: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (!/^[0-9]$/.test(values.level)) throw new Error(`--level: 0 to 9, got ${values.level}`)
    return values
  } catch (error) {
    throw new SetupError(`${error instanceof Error ? error.message : error}; see --help`)
  }
}

/** Before anything is built: a folder that cannot be made ends the command at once. @param {string} folder */
const makeFolder = (folder) => {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/,.*$/s, '') : error
    throw new SetupError(`--out: ${folder} cannot be made: ${reason}`)
  }
}

runScript(async () => {
  const { out, level, built, help } = options()
  if (help) {
    process.stdout.write(`${HELP.trim()}\n`)
    return 0
  }
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new SetupError(`the pack is for Linux on x64, this is ${process.platform} on ${process.arch}`)
  checkNode()
  const problem = packProblem()
  if (problem !== undefined) throw new SetupError(problem)
  makeFolder(resolve(out))
  await installModules()
  if (built) {
    await buildAddon()
    await buildCuda()
    await buildGpuPrograms()
  }
  await buildProcesses()

  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const name = `dcpscope-server-${version}-linux-x64`
  const stage = join(ROOT, 'build', `server-pack.${process.pid}`)
  const file = join(resolve(out), `${name}.tar.xz`)
  const half = `${file}.${process.pid}.tmp`
  try {
    await step('collecting the server pack', () => {
      mkdirSync(join(stage, name), { recursive: true })
      return fillPack(join(stage, name), { built })
    })
    // The filter for x86 code makes two thirds of the pack smaller by a tenth.
    const xz = `xz -T0 --x86 --lzma2=preset=${level}`
    await step('compressing the server pack', () =>
      run('tar', ['-C', stage, '--owner=0', '--group=0', '--sort=name', '-I', xz, '-cf', half, name], {
        failure: 'tar',
      }),
    )
    renameSync(half, file)
  } finally {
    rmSync(half, { force: true })
    rmSync(stage, { recursive: true, force: true })
  }
  const { size } = statSync(file)
  const megabytes = `${(size / 1e6).toFixed(1)} MB`
  if (size > MAX_BYTES) throw new SetupError(`${file} is ${megabytes}, more than ${MAX_BYTES / 1e6} MB`, 1)
  process.stdout.write(`${file}, ${megabytes}\n`)
  return 0
})
