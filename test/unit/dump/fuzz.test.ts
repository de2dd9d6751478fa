import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openDumps, problemSentence } from '../../../app/dump/dumps.ts'
import { answerable } from '../../../app/dump/questions.ts'
import type { ByteSource } from '../../../app/dump/source.ts'
import { dumpBytes, ints } from './dump-file.ts'

/** A dump with a tensor of every kind. */
const WHOLE = dumpBytes(
  {
    q: { shape: [2, 2, 6], dtype: 'BF16' },
    out: { shape: [2, 2, 4] },
    lse: { shape: [2, 2] },
    merged: { shape: [2, 1, 4] },
    seq_lens_global: ints([40, 3]),
    seq_lens_local: ints([20, 2]),
    block_table: ints([0, 1, 2, -1], [2, 2]),
    kv: { shape: [3, 16, 6], dtype: 'F8_E4M3' },
    kv_scale: { shape: [1], values: [1] },
    page_ids: ints([0, 1, 2]),
    slot_mapping: ints([19, -1]),
    topk: ints([0, 1, 2, -1], [2, 2]),
    query_start: ints([0, 1, 2]),
  },
  { num_heads: '2', kv_lora_rank: '4', rope_dim: '2', page_size: '16', engine: 'x', softmax_scale: '0.5' },
)
const HEADER = WHOLE.length - 800

/** A source that notes how much was asked for at once and in all. */
const metered = (bytes: Uint8Array): { source: ByteSource; most: () => number; all: () => number } => {
  let most = 0
  let all = 0
  return {
    source: {
      name: 'fuzzed',
      size: bytes.length,
      read: async (from, length) => {
        most = Math.max(most, length)
        all += length
        if (from < 0 || from + length > bytes.length) throw new Error('reads beyond the file')
        return bytes.slice(from, from + length)
      },
      close: async () => {},
    },
    most: () => most,
    all: () => all,
  }
}

/** Whatever the bytes are: usable, or one problem with a short sentence; and never more read than the file holds. */
const judged = async (bytes: Uint8Array): Promise<void> => {
  const { source, most, all } = metered(bytes)
  const { groups, problems } = await openDumps([source])
  const refused = problems.filter((problem) => problem.refused)
  expect(groups.length + refused.length).toBe(1)
  for (const problem of problems) {
    expect(problemSentence(problem)).toMatch(/^(fuzzed|step \d+, layer \d+): .{1,600}$/s)
    expect(problem.rule).not.toContain('reads beyond the file')
    expect(problem.rule).not.toMatch(/undefined|is not a function|Cannot read|Invalid array length/)
  }
  for (const group of groups) answerable(group)
  expect(most()).toBeLessThanOrEqual(bytes.length)
  expect(all()).toBeLessThanOrEqual(3 * bytes.length)
}

const RUNS = { numRuns: 2000 }

describe('bytes that were tampered with', () => {
  it('are usable where nothing was', async () => {
    const { groups, problems } = await openDumps([metered(WHOLE).source])
    expect(groups.length).toBe(1)
    expect(problems.map(problemSentence)).toEqual(['step 3, layer 0: lacks rank 1 of 2'])
  })

  it('never crash the reader, whichever are changed', async () => {
    const change = fc.record({
      at: fc.oneof(fc.nat(WHOLE.length - 1), fc.nat(HEADER)),
      to: fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('0123456789-[]{},:"eE.\\ntrue'))),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const bytes = WHOLE.slice()
        for (const { at, to } of changes) bytes[at] = to
        await judged(bytes)
      }),
      RUNS,
    )
  })

  it('never crash the reader, wherever they are cut, repeated or added to', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(WHOLE.length),
        fc.nat(WHOLE.length),
        fc.uint8Array({ maxLength: 64 }),
        async (from, to, added) => {
          await judged(new Uint8Array([...WHOLE.slice(0, from), ...added, ...WHOLE.slice(to)]))
        },
      ),
      RUNS,
    )
  })

  it('never crash the reader, whatever a header of the right form says', async () => {
    const size = fc.oneof(
      fc.nat(64),
      fc.constantFrom(-1, 0.5, 2 ** 31, 2 ** 53, 1e300, null, '4', Number.MAX_SAFE_INTEGER),
    )
    const entry = fc.record({
      dtype: fc.oneof(
        fc.constantFrom('F32', 'BF16', 'I32', 'I64', 'U8', 'F8_E4M3', 'F64', 'BOOL'),
        fc.anything(),
      ),
      shape: fc.oneof(fc.array(size, { maxLength: 5 }), fc.anything()),
      data_offsets: fc.oneof(fc.tuple(size, size), fc.anything()),
    })
    const names = fc.constantFrom('q', 'out', 'lse', 'kv', 'block_table', 'seq_lens_local', 'x', '__proto__')
    const metadata = fc.dictionary(
      fc.constantFrom('format', 'rank', 'dcp_size', 'step', 'layer', 'q_len', 'graph', 'interleave'),
      fc.oneof(
        fc.constantFrom('dcpscope-dump/1', '0', '1', '2', '64', '99999999999'),
        fc.string(),
        fc.anything(),
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.dictionary(names, entry), metadata, async (tensors, said) => {
        const json = Buffer.from(JSON.stringify({ __metadata__: said, ...tensors }))
        const prefix = Buffer.alloc(8)
        prefix.writeBigUInt64LE(BigInt(json.length))
        await judged(new Uint8Array(Buffer.concat([prefix, json, Buffer.alloc(64)])))
      }),
      RUNS,
    )
  })

  it('never make it ask for more than the file holds, whatever length the header claims', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), async (length) => {
        const bytes = WHOLE.slice()
        new DataView(bytes.buffer).setBigUint64(0, length, true)
        await judged(bytes)
      }),
    )
  })
})
