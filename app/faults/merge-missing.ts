import type { Fault } from './fault.ts'

export const mergeMissing: Fault = {
  name: 'merge-missing',
  title: 'Every rank keeps its own partial',
  summary: 'Each rank attends to its shard alone and keeps that as the result, because the merge is skipped.',
}
