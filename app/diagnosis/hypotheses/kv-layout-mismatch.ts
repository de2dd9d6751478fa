import { DS_MLA_BYTES, DS_MLA_VALUES } from '../../dump/ds-mla.ts'
import type { Case } from '../case.ts'
import type { Hypothesis, PartialPrediction } from '../hypothesis.ts'
import { needs, REFERENCE } from '../needs.ts'
import type { PartialContext, PartialRow } from '../partial-reference.ts'

/** Bytes of a row of the dumped cache: of one that is dumped as bytes or codes of a byte. */
const rowBytes = (c: Case): number | undefined => {
  for (const { dump } of c.ranks) {
    if (!dump.reader.has('kv')) continue
    const { dtype, shape } = dump.reader.tensor('kv')
    return dtype === 'U8' || dtype.startsWith('F8') ? shape[2] : undefined
  }
  return undefined
}

/** Rows of 576 bytes (fp8) where there are rows of 656 (fp8_ds_mla), or the reverse. */
const partials = (c: Case): PartialPrediction[] => {
  const own = rowBytes(c)
  const other = own === DS_MLA_BYTES ? DS_MLA_VALUES : own === DS_MLA_VALUES ? DS_MLA_BYTES : undefined
  if (other === undefined) return []
  return [
    {
      detail: `with rows of the cache taken to lie ${other} bytes apart instead of ${own}`,
      partial: async (context) => {
        const read = await context.strided(other)
        return read && asSeen(c, read, context.seen)
      },
    },
  ]
}

/** Magnitude from which on fp32, in which kernels compute, overflows and gives anything. */
const OVERFLOWS = 1e30

/** Scales that are nonsense overflow: whatever such heads hold fits, as long as it is nothing that attention gives. */
const asSeen = (c: Case, read: PartialRow, seen: PartialContext['seen']): PartialRow => {
  const out = Float64Array.from(read.out)
  const lse = Float64Array.from(read.lse)
  for (let head = 0; head < c.heads; head++) {
    const [from, to] = [head * c.width, (head + 1) * c.width]
    const isNumber = out.subarray(from, to).every((value) => Math.abs(value) < OVERFLOWS)
    if (isNumber && Math.abs(lse[head] ?? Number.NaN) < OVERFLOWS) continue
    if (!isNonsense(seen, head, c.width)) continue
    if (seen.out !== undefined) out.set(seen.out.subarray(from, to), from)
    lse[head] = seen.lse?.[head] ?? Number.NaN
  }
  return { out, lse }
}

/** Magnitude of an lse that no scores of a model reach. */
const FAR_LSE = 1e4

const isNonsense = ({ out, lse }: PartialContext['seen'], head: number, width: number): boolean => {
  const own = lse?.[head]
  if (own !== undefined && !(Math.abs(own) < FAR_LSE)) return true
  const values = out?.subarray(head * width, (head + 1) * width)
  return (
    values !== undefined &&
    (values.some((value) => !Number.isFinite(value)) || values.every((v) => v === values[0]))
  )
}

export const kvLayoutMismatch: Hypothesis = {
  fault: 'kv-layout-mismatch',
  title: 'Cache rows of another layout',
  causes: [
    {
      text: 'a cache of 656-byte rows (fp8_ds_mla) is read by a kernel for 576-byte rows, or the reverse',
      source: 'vllm-project/vllm#48379',
    },
  ],
  captureNext: 'q, kv, block_table, seq_lens_global, out and lse of all ranks, in a step with short requests',
  applies: (c) =>
    rowBytes(c) === DS_MLA_BYTES ||
    rowBytes(c) === DS_MLA_VALUES ||
    c.ranks.every(({ dump }) => !dump.reader.has('kv') && !dump.reader.has('kv_k')),
  needs: [needs(...REFERENCE, 'out or out_kernel or lse or lse_kernel')],
  partials,
}
