import type { Fault } from './fault.ts'

export const splitCounterUndersized: Fault = {
  name: 'split-counter-undersized',
  title: 'Counters of split KV are too few',
  summary:
    'Counters of split KV are sized for the heads of one rank while the kernel runs the gathered ones, so some tiles hold one split only.',
}
