import { fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeHeader } from '../../../app/dump/safetensors.ts'
import { type DiagnosisEvent, diagnosisEventSchema } from '../../../app/protocol/diagnosis.ts'
import { ipcPorts } from '../../../main/process/port.ts'

const HOST = join(__dirname, '..', '..', '..', 'dist', 'diagnosis-host.js')
const RANKS = 2
const PAGE = 64
const PAGES = 2048
const WIDTH = 512
const KEY = 576
/** Bytes of the cache of one rank: 150 MB, which as doubles are four times as much. */
const CACHE = PAGES * PAGE * KEY * 2
/** What the process of the diagnosis may have in memory at once: far less than one cache, read and decoded, takes beside it. */
const MOST = CACHE * 2.5

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dcpscope-memory-'))
  for (let rank = 0; rank < RANKS; rank++) writeRank(rank)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A file of a rank whose cache is full of one request: keys of zeros, which take no room on disk. */
const writeRank = (rank: number): void => {
  const small = {
    q: { dtype: 'BF16', shape: [1, 2, KEY], data: new Uint8Array(2 * KEY * 2).fill(0x3c) },
    out: { dtype: 'BF16', shape: [1, 2, WIDTH], data: new Uint8Array(2 * WIDTH * 2).fill(0x3c) },
    lse: { dtype: 'F32', shape: [1, 2], data: new Uint8Array(Float32Array.of(5, 6).buffer) },
    seq_lens_global: { dtype: 'I32', shape: [1], data: i32([PAGES * PAGE * RANKS]) },
    seq_lens_local: { dtype: 'I32', shape: [1], data: i32([PAGES * PAGE]) },
    block_table: { dtype: 'I32', shape: [1, PAGES], data: i32(Array.from({ length: PAGES }, (_, i) => i)) },
  } as const
  const tensors = Object.entries(small).map(([name, one]) => ({ name, ...one }))
  const kv = { name: 'kv', dtype: 'BF16', shape: [PAGES, PAGE, KEY], data: { byteLength: CACHE } } as const
  const metadata = {
    format: 'dcpscope-dump/1',
    rank: `${rank}`,
    dcp_size: `${RANKS}`,
    step: '0',
    layer: '0',
    page_size: `${PAGE}`,
    kv_lora_rank: `${WIDTH}`,
    rope_dim: `${KEY - WIDTH}`,
    softmax_scale: '0.1',
    lse_base: 'e',
  }
  const file = join(folder, `rank${rank}.safetensors`)
  const head = Buffer.concat([encodeHeader([...tensors, kv], metadata), ...tensors.map(({ data }) => data)])
  writeFileSync(file, head)
  truncateSync(file, head.byteLength + CACHE)
}

const i32 = (values: readonly number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer)

/** Runs the process of the diagnosis on the folder; its end, and the most memory that it had. */
const diagnosed = (): Promise<{ event: DiagnosisEvent; peak: number }> =>
  new Promise((resolve, reject) => {
    const child = fork(HOST, [], { serialization: 'advanced', execArgv: [] })
    const ended = (code: number | null): void => reject(new Error(`the process ended with ${code}`))
    child.on('exit', ended)
    const { control } = ipcPorts(child)
    control.onMessage((message) => {
      const event = diagnosisEventSchema.parse(message)
      if (event.type === 'ready') control.post({ type: 'diagnose', id: 'a', paths: [folder], allRows: false })
      if (event.type === 'ready' || event.type === 'progress') return
      const [, kilobytes = ''] =
        /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
      resolve({ event, peak: Number(kilobytes) * 1024 })
      child.off('exit', ended)
      child.kill('SIGKILL')
    })
  })

describe.runIf(process.platform === 'linux')('memory', () => {
  it('of a diagnosis does not grow with the caches that it looks into', { timeout: 240_000 }, async () => {
    const { event, peak } = await diagnosed()
    if (event.type !== 'diagnosed') throw new Error(JSON.stringify(event))
    // All keys were attended to: their lse is that of so many zeros, and not the one in the file.
    const said = event.diagnosis.information.map(({ message }) => message).join()
    expect(event.groups).toBe(1)
    expect(said).toContain('differs from the fp64 reference')
    expect(said).toMatch(/keys that 2 ranks have to hold are all zeros/)
    expect(peak).toBeGreaterThan(0)
    expect(peak).toBeLessThan(MOST)
  })
})
