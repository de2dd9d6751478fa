import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, vi } from 'vitest'
import { localLength } from '../../../app/dcp/ownership.ts'
import type { Dump, DumpGroup } from '../../../app/dump/dumps.ts'
import type { TensorReader } from '../../../app/dump/reader.ts'
import { vectorError } from '../../../app/lse/error.ts'
import { readDumps } from '../../../main/dump/dump-files.ts'

// Importing torch alone takes seconds.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

export const PYTHON = process.env.DCPSCOPE_TEST_PYTHON ?? 'python3'
export type Device = 'cpu' | 'cuda'

const skipped = (suite: string, reason: string): void => {
  process.stderr.write(
    `${suite.toUpperCase()} ARE SKIPPED: ${reason} (DCPSCOPE_TEST_PYTHON names another Python)\n`,
  )
}

/** Why no Python can be run, or undefined; said loudly. */
export const noPython = (suite: string): string | undefined => {
  const reason = spawnSync(PYTHON, ['--version']).error?.message
  if (reason !== undefined) skipped(suite, reason)
  return reason
}

/** Prints why torch cannot be used on the device, nothing when it can. */
const CHECK = `
import sys
try:
    import torch
    if sys.argv[1] == "cuda" and not torch.cuda.is_available():
        print("torch sees no GPU")
except ImportError as error:
    print(error)
`

/** Why the recorder cannot be tested with torch on this device, or undefined; said loudly. */
export const noTorch = (suite: string, device: Device): string | undefined => {
  const { status, stdout, stderr, error } = spawnSync(PYTHON, ['-c', CHECK, device], { encoding: 'utf8' })
  if (error === undefined && status !== 0) throw new Error(`${PYTHON} ended with ${status}: ${stderr}`)
  const reason = error?.message ?? stdout.trim()
  if (reason === '') return undefined
  skipped(suite, reason)
  return reason
}

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export const freshFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'dcpscope-recorder-'))
  folders.push(folder)
  return folder
}

/** Runs Python until its end; the JSON that it printed. Not synchronous: a runner that hears nothing for a minute gives up. */
export const python = (args: readonly string[]): Promise<unknown> =>
  new Promise((done, fail) => {
    const child = spawn(PYTHON, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const texts = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      texts.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      texts.stderr += text
    })
    child.on('error', fail)
    child.on('close', (code) => {
      if (code === 0) done(JSON.parse(texts.stdout))
      else fail(new Error(`${PYTHON} ended with ${code}: ${texts.stderr}`))
    })
  })

const ENGINE = fileURLToPath(new URL('engine.py', import.meta.url))

/** What a play of engine.py prints, and the folder that its recorders wrote to. */
export const play = async (
  name: string,
  device: Device,
): Promise<{ answer: Record<string, never>; folder: string }> => {
  const folder = freshFolder()
  const answer = await python([ENGINE, name, device, folder])
  return { answer: answer as Record<string, never>, folder }
}

/** The one rank of the dump of a play with one file. */
export const onlyDump = async (folder: string): Promise<Dump> => {
  const { groups, problems } = await readDumps([folder])
  expect(problems).toEqual([])
  const dump = groups[0]?.ranks.get(0)
  if (groups.length !== 1 || dump === undefined) throw new Error(`${groups.length} groups in ${folder}`)
  return dump
}

/** Digests of the bytes of each tensor as the file has them. */
export const digests = async ({ header, source }: TensorReader): Promise<Record<string, string>> => {
  const found: [string, string][] = []
  for (const { name, start, end } of header.tensors.values())
    found.push([
      name,
      createHash('sha256')
        .update(await source.read(start, end - start))
        .digest('hex'),
    ])
  return Object.fromEntries(found)
}

/** Lengths, sizes and scale of engine.py. */
const LENGTHS = [41, 2, 17]
const [RANKS, HEADS, LATENT, ROPE, PAGE, SCALE] = [4, 8, 32, 8, 4, 0.125]

/**
 * Plays decode and merge of four ranks and looks at the dump: bit for bit what the engine had when it recorded, whole, and
 * enough to compute every partial and the merge anew.
 */
export const checkMerge = async (device: Device, dtype: 'F32' | 'BF16'): Promise<void> => {
  const { answer, folder } = await play(dtype === 'F32' ? 'merge' : 'merge_bf16', device)
  expect(answer).toMatchObject({
    messages: [],
    flushed: [true, true, true, true],
    written: [4, 4, 4, 4],
    dropped: [0, 0, 0, 0],
  })
  const given: Record<string, Record<string, string>> = answer.given ?? {}
  const { groups, problems } = await readDumps([folder])
  expect(problems).toEqual([])
  expect(groups.map(({ step, layer, ranks }) => [step, layer, ranks.size])).toEqual([
    [1, 0, RANKS],
    [1, 2, RANKS],
    [3, 0, RANKS],
    [3, 2, RANKS],
  ])
  const tolerance = dtype === 'F32' ? 1e-5 : 2e-2
  for (const group of groups) {
    for (const [rank, dump] of group.ranks) {
      const found = await digests(dump.reader)
      const { kv: _kv, page_ids: _ids, ...plain } = found
      expect(plain).toEqual(given[`${group.step} ${group.layer} ${rank}`])
      expect(dump.info).toMatchObject({
        numHeads: HEADS,
        maxLen: 64,
        lseBase: 'e',
        engine: 'test 1.0',
        graph: false,
      })
      expect(dump.reader.tensor('kv').dtype).toBe(dtype)
      await checkPartials(dump, tolerance)
      await dump.reader.close()
    }
    await checkMerged(group, tolerance)
  }
}

/** Each row of out and lse, from the queries and the pages of the dump alone. */
const checkPartials = async ({ reader, info }: Dump, tolerance: number): Promise<void> => {
  const width = LATENT + ROPE
  const ids = [...(await reader.values('page_ids'))]
  const table = await reader.values('block_table')
  const columns = reader.tensor('block_table').shape[1] ?? 0
  const used = new Set<number>()
  for (const [request, length] of LENGTHS.entries()) {
    const own = localLength(length, Number(info.rank), { dcp: RANKS, interleave: 1 })
    const keys: Float64Array[] = []
    for (let local = 0; local < own; local++) {
      const id = table[request * columns + Math.floor(local / PAGE)] ?? -1
      used.add(id)
      const page = ids.indexOf(id)
      keys.push(await reader.tokens('kv', page * PAGE + (local % PAGE), 1))
    }
    for (const head of [0, HEADS - 1]) {
      const at = request * HEADS + head
      const q = await reader.values('q', at * width, width)
      const scores = keys.map((key) => SCALE * key.reduce((sum, value, i) => sum + value * (q[i] ?? 0), 0))
      const total = scores.reduce((sum, score) => sum + Math.exp(score), 0)
      const out = Float64Array.from({ length: LATENT }, (_, i) =>
        keys.reduce((sum, key, k) => sum + (Math.exp(scores[k] ?? 0) / total) * (key[i] ?? 0), 0),
      )
      const [lse = Number.NaN] = await reader.values('lse', at, 1)
      if (own === 0) expect(lse).toBe(Number.NEGATIVE_INFINITY)
      else expect(Math.abs(lse - Math.log(total))).toBeLessThan(tolerance)
      const recorded = await reader.values('out', at * LATENT, LATENT)
      expect(vectorError(recorded, out).relative).toBeLessThan(tolerance)
    }
  }
  expect(new Set(ids)).toEqual(used)
}

const checkMerged = async ({ ranks }: DumpGroup, tolerance: number): Promise<void> => {
  const readers = [...ranks.values()].map(({ reader }) => reader)
  const lses = await Promise.all(readers.map((reader) => reader.values('lse')))
  const outs = await Promise.all(readers.map((reader) => reader.values('out')))
  const kept = HEADS / RANKS
  for (const [rank, reader] of readers.entries()) {
    const merged = await reader.values('merged')
    const expected = merged.map((_, i) => {
      const [row, place, value] = [Math.floor(i / (kept * LATENT)), Math.floor(i / LATENT) % kept, i % LATENT]
      const at = row * HEADS + rank * kept + place
      const weights = lses.map((lse) => Math.exp(lse[at] ?? 0))
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      return weights.reduce(
        (sum, weight, r) => sum + (weight / total) * (outs[r]?.[at * LATENT + value] ?? 0),
        0,
      )
    })
    expect(vectorError(merged, expected).relative).toBeLessThan(tolerance)
  }
  await Promise.all(readers.map((reader) => reader.close()))
}

/** Every type of the format, bit for bit, from tensors that are not contiguous. */
export const checkTypes = async (device: Device): Promise<void> => {
  const { answer, folder } = await play('types', device)
  expect(answer).toMatchObject({ messages: [], reordered: [2, 3, 4, 5, 0, 1] })
  const { reader } = await onlyDump(folder)
  expect(await digests(reader)).toEqual(answer.given)
  expect([...reader.header.tensors.values()].map(({ name, dtype, shape }) => [name, dtype, shape])).toEqual([
    ['out', 'F16', [2, 3, 16]],
    ['out_kernel', 'BF16', [2, 3, 16]],
    ['merged', 'F8_E5M2', [2, 3, 16]],
    ['slot_mapping', 'I64', [2]],
    ['lse', 'F32', [2, 3]],
    ['block_table', 'I32', [2, 1]],
    ['kv', 'F8_E4M3', [2, 4, 16]],
    ['page_ids', 'I32', [2]],
  ])
  await reader.close()
}
