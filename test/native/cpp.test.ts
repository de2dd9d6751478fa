import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { addon } from './engine.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const run = (command: string, args: readonly string[], simd?: string): string =>
  execFileSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    env: simd === undefined ? process.env : { ...process.env, DCPSCOPE_SIMD: simd },
  })

const configure = (): string =>
  run('cmake', ['-S', 'native', '-B', 'build/native', '-DCMAKE_BUILD_TYPE=Release'])

describe('the C++ tests of the engine', () => {
  it('pass with every instruction set of this machine', () => {
    configure()
    run('cmake', ['--build', 'build/native', '--target', 'dcpscope_tests'])
    for (const simd of new Set([addon.cpu().simd, 'avx512', 'avx2', 'generic']))
      expect(run('build/native/dcpscope_tests', [], simd)).toBe('ok\n')
  }, 300_000)

  it('pass for what the host does for ranks on GPUs, where the headers of CUDA are', (test) => {
    configure()
    const program = 'dcpscope_cuda_host_tests'
    if (!run('cmake', ['--build', 'build/native', '--target', 'help']).includes(program)) {
      process.stderr.write(
        'THE TESTS OF WHAT THE HOST DOES FOR GPUS ARE SKIPPED: there are no headers of CUDA here\n',
      )
      test.skip()
    }
    run('cmake', ['--build', 'build/native', '--parallel', '2', '--target', program])
    expect(run(`build/native/${program}`, [])).toBe('ok\n')
  }, 600_000)
})
