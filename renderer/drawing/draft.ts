import { formatInt } from './format.ts'

/** What stands beside accepted tokens of a draft, whose output is compared with a reference in place of sampling from it. */
export const DRAFT_PROXY = 'proxy'
export const DRAFT_HINT =
  'A proxy: a token that the draft proposes counts as accepted where the output of its attention is within 1e-2 of its reference'

/** `9 of 12 tokens`. */
export const acceptedText = (accepted: number, proposed: number): string =>
  `${formatInt(accepted)} of ${formatInt(proposed)} tokens`
