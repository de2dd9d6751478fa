import type { Fault } from './fault.ts'

export const lseLayoutTransposed: Fault = {
  name: 'lse-layout-transposed',
  title: 'LSE read in another layout than it was written',
  summary: 'The lse is read as [H, T] where it is [T, H], or a strided view of it is taken for contiguous.',
}
