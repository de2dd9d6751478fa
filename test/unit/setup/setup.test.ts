import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const ROOT = join(__dirname, '..', '..', '..')
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-setup-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const script = (name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const done = spawnSync(process.execPath, [join('main', 'setup', name), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { code: done.status, out: done.stdout, err: done.stderr }
}

/** Evaluates an expression over a set-up module in a process of its own. */
const evaluate = (module: string, expression: string, env: Readonly<Record<string, string>> = {}) => {
  const source = `import * as m from ${JSON.stringify(join(ROOT, 'main', 'setup', module))}\nconsole.log(JSON.stringify(await (${expression})))`
  const done = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { value: done.status === 0 ? (JSON.parse(done.stdout) as unknown) : undefined, err: done.stderr }
}

describe('every script of set-up', () => {
  it.each([
    'start.mjs',
    'test.mjs',
    'test-gpu.mjs',
    'check.mjs',
    'build.mjs',
    'dev.mjs',
    'e2e.mjs',
    'bench.mjs',
    'dist.mjs',
    'pack-server.mjs',
  ])('%s explains itself with --help', (name) => {
    const { code, out } = script(name, ['--help'])
    expect(code).toBe(0)
    expect(out).toMatch(/^npm (start|test|run \w+)/)
  })

  it.each(['test.mjs', 'check.mjs', 'build.mjs', 'dev.mjs', 'bench.mjs', 'pack-server.mjs'])(
    '%s refuses an unknown argument in one line',
    (name) => {
      const { code, err } = script(name, ['--nonsense'])
      expect(code).toBe(2)
      expect(err.trim().split('\n')).toHaveLength(1)
      expect(err).toContain('--nonsense')
    },
  )
})

describe('the server pack', () => {
  it('is refused in one line, before anything is built, where its folder cannot be made', () => {
    const { code, err } = script('pack-server.mjs', ['--out', join(process.execPath, 'pack')])
    expect(code).toBe(2)
    expect(err).toBe(
      `dcpscope: --out: ${join(process.execPath, 'pack')} cannot be made: ENOTDIR: not a directory\n`,
    )
  })
})

describe('the Electron runtime', () => {
  it('is first of all the one that ELECTRON_OVERRIDE_DIST_PATH names', () => {
    const name =
      process.platform === 'darwin'
        ? 'Electron.app/Contents/MacOS/Electron'
        : process.platform === 'win32'
          ? 'electron.exe'
          : 'electron'
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), '')
    writeFileSync(join(folder, 'version'), '45.0.0')
    const { value } = evaluate('electron-runtime.mjs', 'm.findRuntime()', {
      ELECTRON_OVERRIDE_DIST_PATH: folder,
    })
    expect(value).toEqual({ path: join(folder, name), version: '45.0.0', source: 'override' })
  })

  it('says which folder holds none', () => {
    const { err } = evaluate('electron-runtime.mjs', 'm.findRuntime()', {
      ELECTRON_OVERRIDE_DIST_PATH: folder,
    })
    expect(err).toContain(`in ${folder}`)
  })
})

describe('missing system packages', () => {
  /** A PATH on which only the named programs exist. */
  const pathWith = (...programs: string[]): string => {
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    for (const program of programs) {
      writeFileSync(join(bin, program), '#!/bin/sh\n')
      chmodSync(join(bin, program), 0o755)
    }
    return bin
  }

  it('are found by looking for the programs', () => {
    const missing = (PATH: string) => evaluate('system.mjs', 'm.missingBuildTools()', { PATH }).value
    expect(missing(pathWith('clang++', 'ninja'))).toEqual(['cmake'])
  })

  it.runIf(process.platform === 'linux')('are named in one line to copy for somebody who is not root', () => {
    const { err } = evaluate(
      'system.mjs',
      "(process.getuid = () => 1000, m.installPackages(() => ['cmake', 'g++'], 'the native engine'))",
      { PATH: pathWith('apt-get') },
    )
    expect(err).toContain('sudo apt-get install -y --no-install-recommends cmake g++')
  })
})

describe('the CUDA compiler', () => {
  /** A file that can be run. */
  const program = (...place: string[]): string => {
    const path = join(folder, ...place)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, '#!/bin/sh\n')
    chmodSync(path, 0o755)
    return path
  }
  const found = (env: Readonly<Record<string, string>>) =>
    evaluate('system.mjs', 'm.findNvcc() ?? null', {
      PATH: folder,
      DCPSCOPE_NVCC: '',
      CUDACXX: '',
      CUDA_HOME: '',
      CUDA_PATH: '',
      ...env,
    })

  it('is the one that is named, then one on PATH, then one in CUDA_HOME', () => {
    const home = program('home', 'bin', 'nvcc')
    expect(found({ CUDA_HOME: join(folder, 'home') }).value).toBe(home)
    const onPath = program('nvcc')
    expect(found({ CUDA_HOME: join(folder, 'home') }).value).toBe(onPath)
    const named = program('other-nvcc')
    expect(found({ CUDACXX: named }).value).toBe(named)
    expect(found({ CUDACXX: 'other-nvcc' }).value).toBe(named)
    expect(found({ DCPSCOPE_NVCC: onPath, CUDACXX: named }).value).toBe(onPath)
  })
  it('is left out where DCPSCOPE_NVCC is none', () => {
    program('nvcc')
    expect(found({ DCPSCOPE_NVCC: 'none' }).value).toBeNull()
  })
  it('is an error where the named one is not there', () => {
    expect(found({ DCPSCOPE_NVCC: '/nowhere/nvcc' }).err).toContain('/nowhere/nvcc')
  })
})

describe('a step of the build', () => {
  const twice = (between: string): unknown =>
    evaluate(
      'stamp.mjs',
      `(async () => {
        const { writeFileSync, rmSync } = await import('node:fs')
        const { relative } = await import('node:path')
        const input = relative(${JSON.stringify(ROOT)}, ${JSON.stringify(join(folder, 'input'))})
        const output = relative(${JSON.stringify(ROOT)}, ${JSON.stringify(join(folder, 'output'))})
        writeFileSync(input, 'a')
        let done = 0
        const once = () => m.unlessDone('test-step', [input], [output], async () => { done += 1; writeFileSync(output, '') })
        await once()
        ${between}
        await once()
        rmSync('build/test-step.stamp')
        return done
      })()`,
    ).value

  it('is done once for the same inputs', () => {
    expect(twice('')).toBe(1)
  })
  it('is done again when an input changed', () => {
    expect(twice("writeFileSync(input, 'b')")).toBe(2)
  })
  it('is done again when its output is gone', () => {
    expect(twice('rmSync(output)')).toBe(2)
  })
  it('leaves no half-written stamp beside it', () => {
    twice('')
    expect(readdirSync(join(ROOT, 'build')).filter((name) => name.startsWith('test-step'))).toEqual([])
  })
})

describe('work that is cut off', () => {
  const cutOffBy = (signal: 'SIGINT' | 'SIGTERM') => {
    const half = join(folder, 'half')
    const { value } = evaluate(
      'report.mjs',
      `(async () => {
        const { spawnSync } = await import('node:child_process')
        const work = "const m = await import(process.argv[1]); const fs = await import('node:fs');" +
          "await m.tidied(() => fs.rmSync(process.argv[2]), async () => {" +
          "fs.writeFileSync(process.argv[2], ''); process.kill(process.pid, '${signal}');" +
          "await new Promise((done) => setTimeout(done, 60000)) })"
        const args = ['--input-type=module', '-e', work, ${JSON.stringify(join(ROOT, 'main/setup/report.mjs'))}, ${JSON.stringify(half)}]
        return spawnSync(process.execPath, args).status
      })()`,
    )
    return { code: value, left: readdirSync(folder) }
  }

  it.runIf(process.platform !== 'win32')('leaves nothing half-written after Ctrl-C', () => {
    expect(cutOffBy('SIGINT')).toEqual({ code: 130, left: [] })
  })
  it.runIf(process.platform !== 'win32')('leaves nothing half-written when it is told to end', () => {
    expect(cutOffBy('SIGTERM')).toEqual({ code: 143, left: [] })
  })
})
