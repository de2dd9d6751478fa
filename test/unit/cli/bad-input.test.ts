import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFile, dcpscope, freshFolder } from './dcpscope.ts'

/** One line on stderr that says this, nothing on stdout, no stack, nothing written. */
const refused = async (args: readonly string[], says: RegExp, code = 2, stdin?: string): Promise<void> => {
  const data = freshFolder()
  const outcome = await dcpscope(args, { data, ...(stdin === undefined ? {} : { stdin }) })
  expect(outcome.stderr).toMatch(says)
  expect(outcome.stderr).toMatch(/^dcpscope: [^\n]+\n$/)
  expect(outcome.stdout).toBe('')
  expect(outcome.code).toBe(code)
  expect(readdirSync(data)).toEqual([])
}

describe('a configuration that breaks a rule is refused in one line', () => {
  it.each([
    [
      'tpSize not divisible by dcpSize',
      { parallel: { tpSize: 6, dcpSize: 4 }, model: { heads: 12 } },
      /parallel\.dcpSize: must divide tpSize \(6\), got 4/,
    ],
    [
      'interleave not dividing pageSize',
      { parallel: { interleave: 3 } },
      /parallel\.interleave: must divide pageSize \(64\), got 3/,
    ],
    ['zero heads', { model: { heads: 0 } }, /model\.heads: must be at least 1, got 0/],
    [
      'a negative length',
      { workload: { requests: [{ contextLen: -1 }] } },
      /workload\.requests\[0\]\.contextLen: must be at least 0, got -1/,
    ],
    [
      '10^12 tokens',
      { workload: { requests: [{ contextLen: 1e12 }] } },
      /workload\.requests\[0\]\.contextLen: must be at most 16777216/,
    ],
    ['a wrong type', { workload: { steps: 'many' } }, /workload\.steps: must be a number, got "many"/],
    ['an unknown key', { workload: { stepz: 3 } }, /workload\.stepz: is not a known key/],
    ['a key that is a trap', '{"__proto__": {"x": 1}}', /__proto__: is not a known key/],
    ['a list', [], /must be an object/],
    [
      'what this engine cannot do',
      { serving: { kernel: 'x' } },
      /serving\.kernel: a back-end kernel is not supported/,
    ],
    ['an unknown fault', { faults: [{ fault: 'x' }] }, /faults\[0\]\.fault: must be .*, got "x"/],
  ])('%s', async (_name, config, says) => {
    const out = join(freshFolder(), 'out.dcp')
    const file = configFile(config)
    await refused(['run', file, '--out', out], says)
    await refused(['run', file, '--out', out], new RegExp(`^dcpscope: ${file}: `))
    expect(existsSync(out)).toBe(false)
  })

  it('without sending its control characters to the terminal', async () => {
    const file = configFile({ '\u001b[31mred\u202e': 1 })
    await refused(['run', file], /: "\\u001b\[31mred\\u202e": is not a known key\n$/)
  })

  it('of a length that can be read, however many its faults', async () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1])
    await refused(
      ['run', configFile(Object.fromEntries(keys))],
      /^.{4000,4100}\.\.\. \(\d+ more characters\)\n$/,
    )
  })

  it('naming every field at fault', async () => {
    const file = configFile({ model: { heads: 0 }, cache: { pageSize: 0 }, x: 1 })
    await refused(['run', file], /model\.heads: .*; cache\.pageSize: .*; x: is not a known key/)
  })

  it('also from standard input', async () => {
    await refused(
      ['run', '-'],
      /standard input: model\.heads: must be at least 1/,
      2,
      '{"model":{"heads":0}}',
    )
  })
})

describe('a configuration that cannot be read is refused in one line', () => {
  it('when its name is empty', () =>
    refused(['check', ''], /the configuration must be a file, or - for standard input/))

  it('when there is no such file', () =>
    refused(['run', '/nowhere/c.json'], /\/nowhere\/c\.json: there is no such file/))
  it('when it is a folder', () => refused(['run', freshFolder()], /is a folder, not a configuration file/))
  it('when it is not JSON, with line and column', () =>
    refused(['run', configFile('{\n "model": {,}\n}')], /is not JSON: line 2, column 12: unexpected ","/))
  it('when it is empty', () => refused(['run', configFile('')], /is not JSON: it is empty/))
  it('when it is larger than 1 MB', () =>
    refused(['run', configFile(`"${'x'.repeat(1 << 20)}"`)], /is larger than the 1048576 bytes/))
  it('when it is not text', async () => {
    const file = join(freshFolder(), 'c.json')
    writeFileSync(file, Uint8Array.of(0x7b, 0xff, 0xfe))
    await refused(['run', file], /is not UTF-8 text/)
  })
})

describe('bad usage is refused in one line', () => {
  it.each([
    [['run', '--preset', 'gpt'], /--preset: must be tiny or .*, got "gpt"/],
    [['run', '--device', 'tpu'], /engine\.device: must be auto or cpu or cuda, got "tpu"/],
    [['run', '--frobnicate'], /unknown option '--frobnicate'/],
    [['run', 'a.json', 'b.json'], /too many arguments/],
    [['import'], /unknown command 'import'/],
    [['layout', '--dcp', '4'], /required option '--len <tokens>' not specified/],
    [['layout', '--len', 'ten', '--dcp', '4'], /--len: must be a number, got "ten"/],
    [['layout', '--len', '100', '--dcp', '0'], /--dcp: must be at least 1, got 0/],
    [['layout', '--len', '-5', '--dcp', '2'], /--len: must be at least 0, got -5/],
    [
      ['layout', '--len', '9', '--dcp', '2', '--interleave', '3'],
      /--interleave: must divide page \(64\), got 3/,
    ],
    [['layout', '--len', '9', '--dcp', '2', '--token', '9'], /--token: must be below len \(9\), got 9/],
    [['query', '/nowhere.dcp', 'select 1'], /no such bundle: \/nowhere\.dcp/],
    [['query', '/nowhere.dcp'], /missing required argument 'sql'/],
    [
      ['query', '/nowhere.dcp', 'select 1', '--format', 'xml'],
      /--format: must be table or json or csv, got "xml"/,
    ],
  ])('%j', (args, says) => refused(args, says))
})

describe('a bundle folder that cannot become one is refused before anything runs', () => {
  it('when it is not empty, which stays as it was', async () => {
    const out = freshFolder()
    writeFileSync(join(out, 'precious'), 'x')
    await refused(['run', '--out', out], /--out: .* is not empty/)
    expect(readdirSync(out)).toEqual(['precious'])
  })

  it('when its name is empty, too long, or a link that leads nowhere', async () => {
    const folder = freshFolder()
    const link = (name: string, target: string): string => {
      symlinkSync(target, join(folder, name))
      return join(folder, name)
    }
    await refused(['run', '--out', ''], /--out: must name a folder/)
    await refused(
      ['run', '--out', join(folder, 'n'.repeat(300))],
      /\.\.\. cannot be used: the path is too long/,
    )
    await refused(
      ['run', '--out', link('gone', join(folder, 'nowhere'))],
      /gone is a link to something that is not there/,
    )
    await refused(
      ['run', '--out', link('loop', 'loop')],
      /loop cannot be used: its links go round in a circle/,
    )
    await refused(
      ['run', '--out', join(folder, 'loop', 'x')],
      /cannot be used: its links go round in a circle/,
    )
    expect(readdirSync(folder)).toEqual(['gone', 'loop'])
  })

  it.skipIf(process.platform !== 'linux')(
    'when it lies where no folder can be made, which is not called removed',
    () =>
      refused(
        ['run', '--out', '/proc/x.dcp'],
        /(cannot be made: \/proc\/x\.dcp|\/proc is not writable)/,
        process.getuid?.() === 0 ? 3 : 2,
      ),
  )

  it('when it is a file, or lies in one', async () => {
    const file = configFile('{}')
    await refused(['run', '--out', file], /--out: .* is not a folder/)
    await refused(['run', '--out', join(file, 'x.dcp')], /is not a folder/)
  })
})

describe('a bundle that cannot be read is refused in one line', () => {
  const bundle = (manifest: string | undefined): string => {
    const folder = join(freshFolder(), 'b.dcp')
    mkdirSync(folder)
    if (manifest !== undefined) writeFileSync(join(folder, 'run.json'), manifest)
    return folder
  }
  it.each([
    ['not a bundle', undefined, /not a dcpscope bundle/],
    ['truncated', '{"format": "dcpscope-ru', /truncated or not JSON/],
    ['of something else', '{"name": "x"}', /not a dcpscope bundle/],
    [
      'of a future version',
      '{"format":"dcpscope-run","formatVersion":99}',
      /format version 99.*up to version/,
    ],
  ])('%s', (_name, manifest, says) => refused(['query', bundle(manifest), 'select 1'], says))
})

describe('memory that is not there', () => {
  it('is predicted and refused with the numbers before anything is written', async () => {
    const out = join(freshFolder(), 'out.dcp')
    const file = configFile({ workload: { requests: [{ contextLen: 1 << 24, count: 4096 }] } })
    await refused(['run', file, '--out', out], /\d.*available/, 3)
    expect(existsSync(out)).toBe(false)
  })
})
