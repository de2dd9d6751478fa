import type { Fault } from './fault.ts'

export const lengthViewsSwapped: Fault = {
  name: 'length-views-swapped',
  title: 'Global lengths where local ones are meant',
  summary: 'The kernel gets the length of the whole request where it takes that of the rank, or the reverse.',
}
