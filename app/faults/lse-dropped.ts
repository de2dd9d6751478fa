import type { Fault } from './fault.ts'

export const lseDropped: Fault = {
  name: 'lse-dropped',
  title: 'The LSE is lost on its way to the merge',
  summary: 'The lse does not arrive, and partials are averaged or summed as if all ranks weighed the same.',
}
