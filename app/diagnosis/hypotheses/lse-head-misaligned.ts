import type { Case } from '../case.ts'
import type { Hypothesis, LsePrediction } from '../hypothesis.ts'
import { needs, REFERENCE } from '../needs.ts'

/** Numbers of heads to which kernels pad. */
export const PADDED_HEADS = [8, 16, 32, 64, 128, 256]

/** Rows of padded heads, one after the other, read as rows of the real heads. */
const lse = (c: Case): LsePrediction[] =>
  PADDED_HEADS.filter((padded) => padded > c.heads).map((padded) => ({
    detail: `where rows of ${padded} padded heads are read as rows of ${c.heads}`,
    place: (row, head) => {
      const at = row * padded + head
      return at < c.rows * c.heads ? at : undefined
    },
  }))

export const lseHeadMisaligned: Hypothesis = {
  fault: 'lse-head-misaligned',
  title: 'Head padding trimmed from out and not from LSE',
  causes: [
    {
      text: 'heads are padded to what the kernel takes (64 or 128), and only out is cut back to the real ones',
      source: 'vllm-project/vllm, FlashMLA sparse: out and lse are trimmed alike',
    },
  ],
  captureNext: 'lse_kernel and lse of all ranks, in a step with several rows',
  applies: (c) => c.dcp > 1 && c.rows > 1,
  needs: [needs('lse', 'lse_kernel'), needs(...REFERENCE, 'lse')],
  lse,
}
