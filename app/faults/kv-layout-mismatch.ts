import type { Fault } from './fault.ts'

export const kvLayoutMismatch: Fault = {
  name: 'kv-layout-mismatch',
  title: 'Cache rows of another layout',
  summary:
    'Rows of 576 and of 656 bytes are confused, so keys and scales from the second token on are read from the wrong bytes.',
}
