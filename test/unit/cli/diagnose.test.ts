import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { diagnosisSchema } from '../../../app/diagnosis/result.ts'
import { configFile, dcpscope, freshFolder, start } from './dcpscope.ts'

const CONFIG = {
  model: { preset: 'tiny' },
  workload: { steps: 2 },
  capture: { steps: 'last', layers: [0] },
}
let healthy = ''
let faulty = ''
beforeAll(async () => {
  const folder = freshFolder()
  healthy = join(folder, 'healthy.dcp')
  faulty = join(folder, 'faulty.dcp')
  const fault = { fault: 'lse-base-mismatch', ranks: 'all' }
  expect((await dcpscope(['run', configFile(CONFIG), '--out', healthy])).code).toBe(0)
  const broken = configFile({ ...CONFIG, faults: [fault] })
  expect((await dcpscope(['run', broken, '--device', 'cpu', '--out', faulty])).code).toBe(1)
})

/** A dump file whose metadata names neither back-end nor engine. */
const withoutNames = (file: Buffer): Buffer => {
  const length = Number(file.readBigUInt64LE(0))
  const header = JSON.parse(file.subarray(8, 8 + length).toString('utf8'))
  const { backend, engine, ...metadata } = header.__metadata__
  expect([backend, engine]).toEqual([expect.any(String), expect.any(String)])
  const json = Buffer.from(JSON.stringify({ ...header, __metadata__: metadata }).padEnd(length))
  const prefix = Buffer.alloc(8)
  prefix.writeBigUInt64LE(BigInt(json.length))
  return Buffer.concat([prefix, json, file.subarray(8 + length)])
}

describe('dcpscope diagnose', () => {
  it('finds nothing in a healthy bundle: exit 0', async () => {
    const { code, stdout, stderr } = await dcpscope(['diagnose', healthy])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^healthy: /)
  })

  it('names the fault of a bundle, as text and as JSON: exit 1', async () => {
    const text = await dcpscope(['diagnose', faulty])
    expect([text.code, text.stderr]).toEqual([1, ''])
    expect(text.stdout).toContain('1. lse-base-mismatch')
    const { code, stdout } = await dcpscope(['diagnose', faulty, '--json', '--all-rows'])
    const diagnosis = diagnosisSchema.parse(JSON.parse(stdout))
    expect(code).toBe(1)
    expect(diagnosis.findings).toHaveLength(1)
    expect(diagnosis).toMatchObject({
      healthy: false,
      verdict: 'faulty',
      findings: [
        { fault: 'lse-base-mismatch', ranks: [0, 1, 2, 3], steps: [1], layers: [0], ambiguousWith: [] },
      ],
      inputIssues: [],
    })
  })

  it('is blind: without names of files, back-end, engine and faults it finds the same', async () => {
    const bare = freshFolder()
    const folder = join(faulty, 'tensors', 'step=1', 'layer=0')
    for (const name of readdirSync(folder))
      if (name.startsWith('rank'))
        writeFileSync(join(bare, `x-${name}`), withoutNames(readFileSync(join(folder, name))))
    const stripped = await dcpscope(['diagnose', bare, '--json'])
    const whole = await dcpscope(['diagnose', faulty, '--json'])
    expect(JSON.parse(stripped.stdout)).toEqual(JSON.parse(whole.stdout))
  })

  it('uses the other files where one cannot be used, and says so', async () => {
    const copy = join(freshFolder(), 'copy')
    cpSync(join(faulty, 'tensors'), copy, { recursive: true })
    writeFileSync(join(copy, 'broken.safetensors'), 'no dump')
    const { code, stdout } = await dcpscope(['diagnose', copy, '--json'])
    const { findings, inputIssues } = diagnosisSchema.parse(JSON.parse(stdout))
    expect([code, findings[0]?.fault]).toEqual([1, 'lse-base-mismatch'])
    expect(inputIssues).toMatchObject([{ file: join(copy, 'broken.safetensors'), refused: true }])
  })

  it.each([
    ['nothing at all', [], /missing required argument/],
    [
      'a file that is not there',
      ['/not/there.safetensors'],
      /^dcpscope: \/not\/there.safetensors: there is no such file/,
    ],
    ['a file that is no dump', [__filename], /is no safetensors file|is truncated/],
  ])('refuses %s in one line: exit 2', async (_, paths, says) => {
    const { code, stdout, stderr } = await dcpscope(['diagnose', ...paths])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^dcpscope: [^\n]+\n$/)
    expect(stderr).toMatch(says)
  })

  it('refuses thousands of files in one line that can be read: exit 2', async () => {
    const folder = freshFolder()
    for (let i = 0; i < 2000; i++) writeFileSync(join(folder, `${i}.safetensors`), 'no dump')
    for (const command of ['diagnose', 'dump-info']) {
      const { code, stderr } = await dcpscope([command, folder])
      expect(code).toBe(2)
      expect(stderr).toMatch(/^dcpscope: [^\n]+\n$/)
      expect(stderr).toContain('0.safetensors: ')
      expect(stderr).toContain('; and 1997 more problems')
      expect(stderr.length).toBeLessThan(1000)
    }
    const { code, stdout } = await dcpscope(['diagnose', healthy, folder])
    expect(code).toBe(0)
    expect(stdout).toContain('and 1988 more, which --json lists')
    const json = await dcpscope(['diagnose', healthy, folder, '--json'])
    expect(diagnosisSchema.parse(JSON.parse(json.stdout)).inputIssues).toHaveLength(2000)
  })

  it('ends with 130 and leaves no process behind when it is interrupted', async () => {
    const running = start(['diagnose', healthy, faulty, '--all-rows'])
    running.child.kill('SIGINT')
    const { code, signal } = await running.outcome
    // A signal that comes before the command listens ends it as any program.
    expect(signal === 'SIGINT' ? 130 : code).toBe(130)
    expect(existsSync(`/proc/${running.pid}`)).toBe(false)
  })
})
