import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readDumps } from '../../../main/dump/dump-files.ts'
import { openTensorFile } from '../../../main/store/tensor-file.ts'
import { dumpBytes } from '../dump/dump-file.ts'
import { configFile, dcpscope, freshFolder, type Outcome } from './dcpscope.ts'

let bundle = ''
beforeAll(async () => {
  bundle = join(freshFolder(), 'run.dcp')
  const config = configFile({
    model: { preset: 'tiny' },
    capture: { steps: [0, 3], layers: [0, 2] },
    cache: { kvDtype: 'fp8_ds_mla' },
    workload: { steps: 4 },
  })
  expect((await dcpscope(['run', config, '--out', bundle])).code).toBe(0)
})

const RANKS = [0, 1, 2, 3]
const captured = (step: number, layer: number, rank: number): string =>
  join(bundle, `tensors/step=${step}/layer=${layer}/rank=${rank}.safetensors`)

/** One line on stderr, nothing on stdout, exit 2. */
const refused = ({ code, stdout, stderr }: Outcome, says: RegExp): void => {
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^dcpscope: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

describe('dcpscope dump', () => {
  it('writes a file for each step, layer and rank, byte for byte as captured', async () => {
    const out = join(freshFolder(), 'dump')
    const { code, stdout, stderr } = await dcpscope(['dump', bundle, '--out', out])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe(`16 files of 4 captures in ${out}\n`)
    const files = [0, 3].flatMap((step) =>
      [0, 2].flatMap((layer) => RANKS.map((rank) => ({ step, layer, rank }))),
    )
    const name = (f: (typeof files)[number]): string =>
      `step${f.step}-layer${f.layer}-rank${f.rank}.safetensors`
    expect(readdirSync(out).sort()).toEqual(files.map(name).sort())
    for (const file of files)
      expect(
        readFileSync(join(out, name(file))).equals(readFileSync(captured(file.step, file.layer, file.rank))),
      ).toBe(true)
    const { groups, problems } = await readDumps([out])
    expect(problems).toEqual([])
    expect(groups.map(({ step, layer, ranks }) => [step, layer, ranks.size])).toEqual([
      [0, 0, 4],
      [0, 2, 4],
      [3, 0, 4],
      [3, 2, 4],
    ])
  })

  it('writes only the steps and layers that are asked for, into a folder that is there', async () => {
    const out = freshFolder()
    const { stdout } = await dcpscope([
      'dump',
      bundle,
      '--out',
      out,
      '--steps',
      '1-9',
      '--layers',
      '2',
      '--json',
    ])
    const { files, problems } = JSON.parse(stdout)
    expect(files.map((file: { step: number; layer: number }) => [file.step, file.layer])).toEqual(
      RANKS.map(() => [3, 2]),
    )
    expect(files.map(({ file }: { file: string }) => existsSync(file))).toEqual(RANKS.map(() => true))
    expect(problems).toEqual([])
  })

  it('writes what there is of a capture that lacks a rank, and says so', async () => {
    const copy = join(freshFolder(), 'run.dcp')
    cpSync(bundle, copy, { recursive: true })
    rmSync(join(copy, 'tensors/step=3/layer=0/rank=2.safetensors'))
    const out = freshFolder()
    const { code, stdout } = await dcpscope(['dump', copy, '--out', out, '--steps', '3', '--layers', '0'])
    expect(code).toBe(1)
    expect(stdout).toBe(`3 files of 1 capture in ${out}\nstep 3, layer 0: lacks rank 2 of 4\n`)
  })

  it.each<[string, readonly string[], RegExp]>([
    ['an unknown bundle', ['/nowhere.dcp'], /no such bundle: \/nowhere\.dcp/],
    [
      'a step that was not captured',
      ['BUNDLE', '--steps', '2'],
      /captured are step 0, layer 0; step 0, layer 2;/,
    ],
    [
      'steps that are no numbers',
      ['BUNDLE', '--steps', '1,x'],
      /--steps: must be numbers and ranges such as 0,4-7/,
    ],
    ['a range from the end', ['BUNDLE', '--layers', '5-2'], /--layers: must be numbers and ranges/],
  ])('refuses %s and writes nothing', async (_, args, says) => {
    const out = join(freshFolder(), 'out')
    refused(
      await dcpscope(['dump', ...args.map((arg) => (arg === 'BUNDLE' ? bundle : arg)), '--out', out]),
      says,
    )
    expect(existsSync(out)).toBe(false)
  })

  it('refuses a folder that holds something', async () => {
    const out = freshFolder()
    writeFileSync(join(out, 'x'), '')
    refused(await dcpscope(['dump', bundle, '--out', out]), /--out: .* is not empty/)
  })

  it('refuses a damaged capture before it writes anything', async () => {
    const copy = join(freshFolder(), 'run.dcp')
    cpSync(bundle, copy, { recursive: true })
    truncateSync(join(copy, 'tensors/step=0/layer=0/rank=1.safetensors'), 2000)
    const out = join(freshFolder(), 'out')
    refused(await dcpscope(['dump', copy, '--out', out]), /rank=1\.safetensors: tensor q: is truncated/)
    expect(existsSync(out)).toBe(false)
  })

  it('refuses a run without captures, and says how to have some', async () => {
    const plain = join(freshFolder(), 'plain.dcp')
    const config = configFile({
      model: { preset: 'tiny' },
      capture: { steps: 'none' },
      workload: { steps: 1 },
    })
    expect((await dcpscope(['run', config, '--out', plain])).code).toBe(0)
    refused(
      await dcpscope(['dump', plain, '--out', join(freshFolder(), 'out')]),
      /captured no tensors; capture\.steps of its configuration says which/,
    )
  })
})

describe('dcpscope dump-info', () => {
  it('lists tensors by step, layer and rank, and what they can answer', async () => {
    const { code, stdout, stderr } = await dcpscope([
      'dump-info',
      ...RANKS.map((rank) => captured(3, 2, rank)),
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^step 3, layer 2: 4 ranks, interleave 1, q_len 1, lse base e, ag_rs, fp8_ds_mla, /,
    )
    expect(stdout).toMatch(/^ {2}lse +\[4, 16\] +F32 +0-3$/m)
    expect(stdout).toMatch(/^ {2}kv +\[\d+, 16, 656\] +U8 +0-3$/m)
    expect(stdout).toMatch(/^ {2}does merged follow from the partials +yes$/m)
  })

  it('takes folders and bundles, which have their reference', async () => {
    const { code, stdout } = await dcpscope(['dump-info', bundle, '--json'])
    expect(code).toBe(0)
    const { groups, problems } = JSON.parse(stdout)
    expect(problems).toEqual([])
    expect(groups.length).toBe(4)
    expect(groups[0]).toMatchObject({
      step: 0,
      layer: 0,
      dcpSize: 4,
      missingRanks: [],
      reference: join(bundle, 'tensors/step=0/layer=0/reference.safetensors'),
    })
    expect(groups[0].ranks[2]).toMatchObject({
      rank: 2,
      file: captured(0, 0, 2),
      metadata: {
        dcpSize: 4,
        interleave: 1,
        kvLayout: 'fp8_ds_mla',
        lseBase: 'e',
        numHeads: 16,
        backend: 'native',
      },
    })
    expect(groups[0].ranks[2].tensors).toContainEqual({ name: 'lse', dtype: 'F32', shape: [4, 16] })
    expect(groups[0].questions).toContainEqual({
      question: 'merge',
      asks: 'does merged follow from the partials',
      answerable: true,
      needs: [],
      needsRanks: [],
    })
  })

  it('names what is wrong in one line each, lists the rest and exits with 1', async () => {
    const folder = freshFolder()
    const bad = join(folder, 'a.safetensors')
    writeFileSync(bad, 'not one')
    const files = [0, 2, 3].map((rank) => captured(3, 0, rank))
    const { code, stdout } = await dcpscope(['dump-info', ...files, files[0] ?? '', folder, '/nowhere'])
    expect(code).toBe(1)
    expect(stdout.split('\nproblems\n')[1]).toBe(
      [
        '  /nowhere: there is no such file or folder',
        `  ${bad}: is truncated: 7 bytes are less than a header`,
        '  step 3, layer 0: lacks rank 1 of 4',
        '',
      ].join('\n'),
    )
    expect(stdout).toContain('step 3, layer 0: 3 of 4 ranks')
    expect(stdout).toMatch(/does merged follow from the partials +no, it needs files of rank 1$/m)
    const { problems } = JSON.parse((await dcpscope(['dump-info', ...files, bad, '--json'])).stdout)
    expect(problems[0]).toEqual({
      file: bad,
      tensor: null,
      step: null,
      layer: null,
      rule: 'is truncated: 7 bytes are less than a header',
      refused: true,
      message: `${bad}: is truncated: 7 bytes are less than a header`,
    })
  })

  it('exits with 2 and one line when no file can be used', async () => {
    refused(
      await dcpscope(['dump-info', '/nowhere', '/nothing']),
      /\/nowhere: there is no .*; \/nothing: there/,
    )
    refused(await dcpscope(['dump-info', freshFolder()]), /holds no file that ends in \.safetensors/)
    refused(await dcpscope(['dump-info', '']), /^dcpscope: "": there is no such file or folder$/m)
    refused(await dcpscope(['dump-info']), /missing required argument/)
  })

  it('does not hang at a pipe, follow links in circles', async () => {
    const folder = freshFolder()
    execFileSync('mkfifo', [join(folder, 'pipe.safetensors')])
    symlinkSync(folder, join(folder, 'loop'))
    symlinkSync(join(folder, 'self.safetensors'), join(folder, 'self.safetensors'))
    mkdirSync(join(folder, 'folder.safetensors'))
    const { stderr } = await dcpscope(['dump-info', folder])
    expect(stderr).toContain('pipe.safetensors: is not a file')
    expect(stderr).toContain('self.safetensors: its links go round in a circle')
  })

  it('shows control characters of a file, and sends none to the terminal', async () => {
    const file = join(freshFolder(), 'evil.safetensors')
    writeFileSync(file, dumpBytes({ 'x\u001b[31m': { shape: [1] } }, { engine: '\u001b[2J', dcp_size: '1' }))
    const { code, stdout } = await dcpscope(['dump-info', file])
    expect(code).toBe(0)
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toContain('\\x1b[2J')
  })
})

describe('a dump of many gigabytes', () => {
  it('is read without holding more than what is asked for', async () => {
    // A sparse file: its size is real, the disk holds the header only.
    const file = join(freshFolder(), 'large.safetensors')
    const pages = 1 << 18
    const bytes = pages * 64 * 576
    const json = JSON.stringify({
      __metadata__: { format: 'dcpscope-dump/1', rank: '0', dcp_size: '1', step: '0', layer: '0' },
      kv: { dtype: 'F8_E4M3', shape: [pages, 64, 576], data_offsets: [0, bytes] },
    }).padEnd(256)
    const prefix = Buffer.alloc(8)
    prefix.writeBigUInt64LE(256n)
    writeFileSync(file, Buffer.concat([prefix, Buffer.from(json)]))
    truncateSync(file, 264 + bytes)
    const before = process.memoryUsage().rss
    const { groups, problems } = await readDumps([file])
    expect(problems).toEqual([])
    const reader = groups[0]?.ranks.get(0)?.reader
    expect(reader?.source.size).toBeGreaterThan(8e9)
    expect((await reader?.tokens('kv', (pages - 1) * 64, 64))?.length).toBe(64 * 576)
    await reader?.close()
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 2 ** 20)
  })

  it('that is cut while it is read says so', async () => {
    const file = join(freshFolder(), 'cut.safetensors')
    writeFileSync(file, dumpBytes({ lse: { shape: [64, 64] } }))
    const reader = await openTensorFile(file)
    truncateSync(file, 1000)
    await expect(reader.values('lse')).rejects.toThrow('the file ends at byte 1000')
    await reader.close()
  })
})
