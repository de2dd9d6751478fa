import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { dcpscope, freshFolder } from './dcpscope.ts'

const json = async (args: readonly string[]) => {
  const { code, stdout, stderr } = await dcpscope([...args, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

describe('dcpscope layout', () => {
  it('deals 100 tokens out to 4 ranks in runs of 64', async () => {
    expect(
      await json(['layout', '--len', '100', '--dcp', '4', '--interleave', '64', '--page', '64']),
    ).toEqual({
      len: 100,
      dcp: 4,
      interleave: 64,
      page: 64,
      newestOwner: 1,
      ranks: [
        { rank: 0, localLen: 64, localPages: 1 },
        { rank: 1, localLen: 36, localPages: 1 },
        { rank: 2, localLen: 0, localPages: 0 },
        { rank: 3, localLen: 0, localPages: 0 },
      ],
    })
  })

  it('locates a token and has defaults', async () => {
    expect(await json(['layout', '--len', '1000', '--dcp', '4', '--token', '515'])).toMatchObject({
      interleave: 1,
      page: 64,
      token: { global: 515, owner: 3, localIndex: 128, virtualPage: 2, offset: 0 },
    })
  })

  it('prints a table whose local lengths add up', async () => {
    const { stdout } = await dcpscope(['layout', '--len', '10', '--dcp', '3'])
    expect(stdout).toContain('newest token 9 is on rank 0')
    expect(stdout).toContain('sum of local lengths 10')
  })
})

describe('dcpscope query', () => {
  let bundle = ''
  beforeAll(async () => {
    bundle = join(freshFolder(), 'run.dcp')
    expect((await dcpscope(['run', '--out', bundle])).code).toBe(0)
  })
  const SQL = "select step, null as nothing, '=x' as text from steps order by step limit 2"

  it('prints rows as an aligned table by default', async () => {
    const { stdout } = await dcpscope(['query', bundle, SQL])
    expect(stdout).toBe('step  nothing  text\n   0           =x\n   1           =x\n')
  })

  it('prints rows as JSON objects', async () => {
    const { stdout } = await dcpscope(['query', bundle, SQL, '--format', 'json'])
    expect(JSON.parse(stdout)).toEqual([0, 1].map((step) => ({ step, nothing: null, text: '=x' })))
  })

  it('prints rows as CSV that no spreadsheet runs', async () => {
    const { stdout } = await dcpscope(['query', bundle, SQL, '--format', 'csv'])
    expect(stdout).toBe("step,nothing,text\r\n0,,'=x\r\n1,,'=x\r\n")
  })

  it('keeps columns of the same name apart in JSON', async () => {
    const { stdout } = await dcpscope(['query', bundle, 'select 1 as a, 2 as a', '--format', 'json'])
    const [row] = JSON.parse(stdout)
    expect(Object.values(row)).toEqual([1, 2])
  })

  it.each([
    ['select nothing from steps', /nothing/],
    ['selec', /syntax error/i],
    ["copy steps to '/tmp/dcpscope-stolen.csv'", /./],
    ["select * from read_text('/etc/passwd')", /./],
  ])('refuses %j with one line and exit 2', async (sql, says) => {
    const { code, stdout, stderr } = await dcpscope(['query', bundle, sql])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^dcpscope: [^\n]+\n$/)
    expect(stderr).toMatch(says)
  })
})

describe('dcpscope doctor', () => {
  it('says in JSON what this machine can do', async () => {
    const report = await json(['doctor'])
    expect(report.engines.cpu).toMatchObject({ available: true })
    expect(typeof report.engines.cuda.available).toBe('boolean')
    expect(report.engines.cuda.reason).toMatch(/^[^\n]+$/)
    expect(report.nodeVersion).toBe(process.versions.node)
    expect(Object.keys(report.electron)).toEqual(expect.arrayContaining(['version', 'source']))
    expect(Array.isArray(report.gpus)).toBe(true)
    expect(Array.isArray(report.missing)).toBe(true)
  })

  it('names what is missing for a GPU where it cannot be used', async () => {
    const report = await json(['doctor'])
    const named = report.missing.some((what: string) => /CUDA/.test(what))
    expect(named).toBe(process.platform === 'linux' && !report.engines.cuda.available)
  })

  it('says it in words', async () => {
    const { code, stdout } = await dcpscope(['doctor'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^CPU engine +yes, engine \d/)
  })
})

describe('dcpscope --help', () => {
  it('lists the commands that work, and the exit codes', async () => {
    const { code, stdout } = await dcpscope(['--help'])
    expect(code).toBe(0)
    const commands = [...stdout.matchAll(/^ {2}([\w-]+) .*\s{2,}\S/gm)].map((m) => m[1])
    expect(commands).toEqual(
      expect.arrayContaining([
        'run',
        'sweep',
        'check',
        'layout',
        'query',
        'compare',
        'dump',
        'dump-info',
        'scenarios',
        'diagnose',
        'recorder',
        'doctor',
      ]),
    )
    expect(stdout).not.toMatch(/^ {2}(import|export|agent) /m)
    expect(stdout).toMatch(/130 +ended by Ctrl-C/)
  })

  it('names every table that a query can ask for', async () => {
    const { stdout } = await dcpscope(['query', '--help'])
    expect(stdout).toContain('tables spans, kernels, rows, pages, steps, events, points.')
  })

  it('is what bare use prints, with exit 2', async () => {
    const { code, stdout } = await dcpscope([])
    expect([code, stdout]).toEqual([2, ''])
  })
})
