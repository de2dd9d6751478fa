import type { Fault } from './fault.ts'

export const mergedEmptyNan: Fault = {
  name: 'merged-empty-nan',
  title: 'A row that no rank has keys for becomes NaN',
  summary: 'All ranks are empty for a row and the merge divides by zero, where the result is (0, -inf).',
}
