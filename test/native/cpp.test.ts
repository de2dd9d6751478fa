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

describe('the C++ tests of the engine', () => {
  it('pass with every instruction set of this machine', () => {
    run('cmake', ['-S', 'native', '-B', 'build/native', '-DCMAKE_BUILD_TYPE=Release'])
    run('cmake', ['--build', 'build/native', '--target', 'dcpscope_tests'])
    for (const simd of new Set([addon.cpu().simd, 'avx512', 'avx2', 'generic']))
      expect(run('build/native/dcpscope_tests', [], simd)).toBe('ok\n')
  }, 300_000)
})
