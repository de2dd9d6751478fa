import type { Fault } from './fault.ts'

export const lseLowPrecision: Fault = {
  name: 'lse-low-precision',
  title: 'LSE stored in bf16',
  summary: 'The lse is kept in bf16, whose steps at its magnitude are percents of a weight.',
}
