import type { Fault } from './fault.ts'

export const coverageOverlap: Fault = {
  name: 'coverage-overlap',
  title: 'A token counts twice',
  summary: 'Two ranks hold and count the same token.',
}
