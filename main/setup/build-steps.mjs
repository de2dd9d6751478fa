// @ts-check
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { ENTRIES, PAGE, PRELOAD } from '../build/entries.mjs'
import { SetupError, say, step } from './report.mjs'
import { ROOT, run } from './shell.mjs'
import { digestOf, isDone, unlessDone, writeWhole } from './stamp.mjs'
import { checkNode, findNvcc, installPackages, missingBuildTools } from './system.mjs'

const MODULES_STAMP = join(ROOT, 'node_modules', '.dcpscope-lock')

/** Installs the npm packages of the lock file unless they are there. */
export const installModules = async () => {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
  if (existsSync(MODULES_STAMP) && readFileSync(MODULES_STAMP, 'utf8') === lock) return
  await step('installing npm packages', () => run('npm', ['ci', '--loglevel=error'], { failure: 'npm ci' }))
  writeWhole(MODULES_STAMP, lock)
}

/** Compiles the native engine to dist/native/dcpscope.node. */
export const buildAddon = () =>
  unlessDone('addon', ['native', 'package-lock.json'], ['dist/native/dcpscope.node'], async () => {
    await installPackages(missingBuildTools, 'the native engine')
    await step('compiling the native engine', async () => {
      await run('cmake', ['-S', 'native', '-B', 'build/native', '-DCMAKE_BUILD_TYPE=Release'], {
        failure: 'cmake',
      })
      await compile('build/native')
    })
  })

const CUDA_INPUTS = ['native/cuda', 'native/core', 'native/comm', 'native/common.cmake']
const CUDA_LIBRARY = 'dist/native/dcpscope_cuda.so'

/** Compiles the CUDA engine to dist/native/dcpscope_cuda.so, where there is a CUDA compiler. */
export const buildCuda = async () => {
  const nvcc = findNvcc()
  if (nvcc === undefined) {
    if (isDone('cuda', digestOf(CUDA_INPUTS), [CUDA_LIBRARY])) return
    // One of other sources would not fit the addon.
    rmSync(join(ROOT, CUDA_LIBRARY), { force: true })
    say(
      `the CUDA engine is left out: ${process.env.DCPSCOPE_NVCC === 'none' ? 'DCPSCOPE_NVCC is none' : 'nvcc is not on this machine; install the CUDA toolkit or set DCPSCOPE_NVCC to have it'}`,
    )
    return
  }
  await unlessDone('cuda', CUDA_INPUTS, [CUDA_LIBRARY], () =>
    step('compiling the CUDA engine', async () => {
      await configureCuda(nvcc)
      await compile('build/cuda')
    }),
  )
}

/**
 * Compiles the tests and the benchmark of the GPU kernels to build/cuda, programs that also run alone where there is
 * a GPU. @returns {Promise<boolean>} false where there is no CUDA compiler
 */
export const buildGpuPrograms = async () => {
  const nvcc = findNvcc()
  if (nvcc === undefined) return false
  await unlessDone(
    'gpu-programs',
    CUDA_INPUTS,
    GPU_PROGRAMS.map((name) => `build/cuda/${name}`),
    () =>
      step('compiling the tests and the benchmark of the GPU kernels', async () => {
        await configureCuda(nvcc)
        await compile('build/cuda', GPU_PROGRAMS)
      }),
  )
  return true
}

const GPU_PROGRAMS = ['dcpscope_gpu_tests', 'dcpscope_gpu_bench']

/** @param {string} nvcc */
const configureCuda = (nvcc) =>
  run('cmake', ['-S', 'native/cuda', '-B', 'build/cuda', '-DCMAKE_BUILD_TYPE=Release'], {
    env: { ...process.env, CUDACXX: nvcc },
    failure: 'cmake for the CUDA engine',
  })

/** @param {string} folder @param {readonly string[]} [targets] */
const compile = (folder, targets = []) =>
  run(
    'cmake',
    [
      '--build',
      folder,
      '--parallel',
      String(availableParallelism()),
      ...(targets.length > 0 ? ['--target', ...targets] : []),
    ],
    { failure: 'the compiler' },
  )

/** @param {readonly string[]} entries */
const needEntries = (entries) => {
  const missing = entries.filter((entry) => !existsSync(join(ROOT, entry)))
  if (missing.length > 0)
    throw new SetupError(
      `the checkout is incomplete, there is nothing to build: ${missing.join(', ')} missing`,
    )
}

/** @param {string} config */
const vite = (config) =>
  run(
    process.execPath,
    [
      join('node_modules', 'vite', 'bin', 'vite.js'),
      'build',
      '--config',
      `main/build/${config}`,
      '--logLevel',
      'warn',
    ],
    {
      failure: `building ${config}`,
    },
  )

const PROCESSES = [
  'dist/main.js',
  'dist/engine-host.js',
  'dist/store-host.js',
  'dist/diagnosis-host.js',
  'dist/sweep-host.js',
  'dist/cli.js',
  'dist/preload.js',
]

/** Bundles Electron main, preload, engine host, store host and command line into dist/. */
export const buildProcesses = () =>
  unlessDone('processes', ['app', 'main', 'package-lock.json'], PROCESSES, () =>
    step('building processes and command line', async () => {
      needEntries([...Object.values(ENTRIES), ...Object.values(PRELOAD)])
      await vite('processes.config.mts')
      await vite('preload.config.mts')
      await chmod(join(ROOT, 'dist/cli.js'), 0o755)
    }),
  )

/** Bundles the page into dist/renderer. */
export const buildRenderer = () =>
  unlessDone(
    'renderer',
    ['app', 'renderer', 'main/build', 'package-lock.json'],
    ['dist/renderer/index.html'],
    () =>
      step('building the window', async () => {
        needEntries([PAGE])
        await vite('renderer.config.mts')
      }),
  )

/** Everything that a run needs, from nothing; each part only when its inputs changed. */
export const buildAll = async () => {
  checkNode()
  if (!existsSync(join(ROOT, 'package-lock.json')))
    throw new SetupError('package-lock.json is missing; clone the repository anew')
  await installModules()
  await buildAddon()
  await buildCuda()
  await buildProcesses()
  await buildRenderer()
}
