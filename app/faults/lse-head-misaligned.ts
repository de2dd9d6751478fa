import type { Fault } from './fault.ts'

export const lseHeadMisaligned: Fault = {
  name: 'lse-head-misaligned',
  title: 'Head padding trimmed from out and not from LSE',
  summary:
    'Padding heads are trimmed from out but stay in the lse, so that its rows shift from the second one on.',
}
