import { spawnSync } from 'node:child_process'
import { accessSync, constants, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'dcpscope server pack '))
// Make cannot be called by a path with spaces; what it builds can lie below one.
const bin = mkdtempSync(join(tmpdir(), 'dcpscope-tools-'))
let pack = ''
afterAll(() => {
  for (const path of [folder, bin]) rmSync(path, { recursive: true, force: true })
})

/** What a server has: compilers and a shell, no Node and no npm. */
const TOOLS = ['sh', 'cmake', 'make', 'ninja', 'c++', 'g++', 'cc', 'gcc', 'ld', 'as', 'ar', 'ranlib']
const SHELL = ['cat', 'dirname', 'env', 'mkdir', 'nproc', 'readlink', 'sort']

const onPath = (name: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((home) => join(home, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })

/** Runs a program of the pack as on such a server. */
const onServer = (program: string, ...args: string[]) => {
  const done = spawnSync(join(pack, program), args, {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: bin, HOME: folder, DCPSCOPE_NVCC: 'none' },
  })
  return { code: done.status, out: done.stdout, err: done.stderr }
}

/** Why this machine cannot make a pack; empty when it can. */
const packProblem = (): string => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it is for Linux on x64'
  const ask =
    "import('./main/setup/server-pack.mjs').then((m) => process.stdout.write(m.packProblem() ?? ''))"
  return spawnSync(process.execPath, ['-e', ask], { encoding: 'utf8' }).stdout
}

const problem = packProblem()
if (problem !== '') console.warn(`the pack for servers is not tested: ${problem}`)

describe.skipIf(problem !== '')('the pack for servers', () => {
  beforeAll(() => {
    for (const name of [...TOOLS, ...SHELL]) {
      const path = onPath(name)
      if (path !== undefined) symlinkSync(path, join(bin, name))
    }
    const args = ['main/setup/pack-server.mjs', '--level', '0', '--out', folder]
    const made = spawnSync(process.execPath, args, { encoding: 'utf8' })
    if (made.status !== 0) throw new Error(made.stderr)
    const file = made.stdout.split(',')[0] ?? ''
    spawnSync('tar', ['-C', folder, '-xf', file])
    pack = join(folder, readdirSync(folder).find((name) => /^dcpscope-server-.*x64$/.test(name)) ?? '')
  }, 600_000)

  it('carries a license for everything in it', () => {
    expect(readdirSync(pack)).toContain('LICENSE')
    const licenses = readdirSync(join(pack, 'licenses'))
    for (const name of ['node', 'zod', 'commander', '@duckdb-node-api', 'node-addon-api'])
      expect(licenses).toContain(`${name}.txt`)
  })

  it('says how the engine is built before it is', () => {
    const { code, err } = onServer('dcpscope', 'run', '--preset', 'tiny')
    expect(code).toBe(3)
    expect(err).toContain('build it with "./build.sh"')
  })

  it('refuses arguments that its build script does not know', () => {
    const { code, err } = onServer('build.sh', '--nonsense')
    expect([code, err.trim().split('\n').length]).toEqual([2, 1])
  })

  it('builds with compilers alone, says that CUDA is left out, and runs on the CPU', () => {
    const built = onServer('build.sh')
    expect(built.err).toContain('the CUDA engine is left out: DCPSCOPE_NVCC is none')
    expect(built.code).toBe(0)

    const run = onServer('dcpscope', 'run', '--preset', 'tiny', '--device', 'cpu', '--json')
    expect(run.err).toBe('')
    const summary = JSON.parse(run.out)
    expect(summary).toMatchObject({ device: 'cpu', ranks: 4, check: { ok: true } })
    const counted = onServer(
      'dcpscope',
      'query',
      summary.bundle,
      'SELECT count(DISTINCT step) AS n FROM spans',
      '--format',
      'json',
    )
    expect(JSON.parse(counted.out)).toEqual([{ n: summary.steps }])

    const doctor = onServer('dcpscope', 'doctor', '--json')
    expect(doctor.code).toBe(0)
    expect(JSON.parse(doctor.out)).toMatchObject({
      engines: { cpu: { available: true }, cuda: { available: false } },
    })
  }, 600_000)
})
