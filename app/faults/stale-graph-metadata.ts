import type { Fault } from './fault.ts'

export const staleGraphMetadata: Fault = {
  name: 'stale-graph-metadata',
  title: 'A graph replay sees lengths or pages of another step',
  summary:
    'Buffers that a captured graph reads are not refreshed before a replay, so kernels work on the lengths or pages of another step.',
}
