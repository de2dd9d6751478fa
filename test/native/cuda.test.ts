import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { addon, addonPath } from './engine.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const library = join(dirname(addonPath), 'dcpscope_cuda.so')
const built = existsSync(library)
if (!built)
  process.stderr.write('THE TESTS OF THE CUDA LIBRARY ARE SKIPPED: it is not built, as nvcc was not found\n')

const run = (command: string, args: readonly string[]): string =>
  execFileSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })

describe.skipIf(!built)('the CUDA engine, compiled on a machine that need not have a GPU', () => {
  it('exports the entry points that the addon asks for', () => {
    const header = readFileSync(`${root}native/cuda/library.h`, 'utf8')
    const declared = [...header.matchAll(/\b(dcpscope_cuda_\w+)\(/g)].map(([, name]) => name)
    const exported = run('nm', ['-D', '--defined-only', library])
    expect(declared.length).toBeGreaterThan(0)
    for (const name of declared) expect(exported).toMatch(new RegExp(`\\bT ${name}$`, 'm'))
  })

  it('needs no library of the CUDA toolkit or of the driver', () => {
    expect(run('ldd', [library])).not.toMatch(/libcu|nvidia|not found/i)
  })

  it('has code for sm_80 and for sm_90a', () => {
    const bytes = readFileSync(library)
    for (const architecture of ['sm_80', 'sm_90a']) expect(bytes.includes(architecture)).toBe(true)
  })

  it('is of the same headers as the addon', () => {
    expect(addon.cuda().reason ?? '').not.toContain('another version')
  })

  it('has tests and a benchmark that compile, and name their cases without a GPU', () => {
    const programs = ['dcpscope_gpu_tests', 'dcpscope_gpu_bench']
    run('cmake', ['--build', 'build/cuda', '--parallel', '2', '--target', ...programs])
    const cases = run('build/cuda/dcpscope_gpu_tests', ['--list']).trim().split('\n')
    expect(cases.length).toBeGreaterThan(10)
    expect(new Set(cases).size).toBe(cases.length)
  }, 900_000)

  it.skipIf(addon.cuda().available)('has programs that say in one line that there is no GPU', () => {
    for (const program of ['dcpscope_gpu_tests', 'dcpscope_gpu_bench']) {
      const { status, stdout, stderr } = spawnSync(`build/cuda/${program}`, { cwd: root, encoding: 'utf8' })
      expect(status).toBe(3)
      expect(`${stdout}${stderr}`.trim().split('\n')).toHaveLength(1)
    }
  })
})

/** Why the addon says that kernels cannot be recorded, with CUPTI looked for as `env` says. */
const kernelProblem = (env: Record<string, string>): string =>
  execFileSync(
    process.execPath,
    ['-e', `process.stdout.write(require(${JSON.stringify(addonPath)}).kernelProblem())`],
    { encoding: 'utf8', env: { ...process.env, ...env } },
  )

describe.skipIf(!built)('the recording of kernels', () => {
  it('needs CUPTI, and says in one line where it looked and what to install', () => {
    expect(kernelProblem({ DCPSCOPE_CUPTI: '/not/there/libcupti.so' })).toMatch(
      /^CUPTI is missing \(DCPSCOPE_CUPTI names \/not\/there\/libcupti\.so, [^\n]*install the package cuda-cupti [^\n]*$/,
    )
  })

  it('refuses a library that is something else', () => {
    const other = kernelProblem({ DCPSCOPE_CUPTI: 'libm.so.6' })
    expect(other).toMatch(/^CUPTI of version 0 is not supported; install that of CUDA 12 or 13$/)
  })

  it('says nothing, or in one line why not, wherever CUPTI is looked for', () => {
    expect(kernelProblem({})).toMatch(/^(CUPTI [^\n]+)?$/)
  })
})

describe('the addon', () => {
  it('loads without a driver, and says in one line why CUDA is not available', () => {
    const cuda = addon.cuda()
    if (cuda.available) expect(cuda.devices.length).toBeGreaterThan(0)
    else expect(cuda.reason).toMatch(/^[^\n]{10,}$/)
  })
})
