import type { Fault } from './fault.ts'

export const interleaveMismatch: Fault = {
  name: 'interleave-mismatch',
  title: 'Cache and kernel disagree on the interleave',
  summary: 'The cache is written with one interleave, while lengths or visible keys follow another.',
}
