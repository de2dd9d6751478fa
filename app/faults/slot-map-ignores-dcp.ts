import type { Fault } from './fault.ts'

export const slotMapIgnoresDcp: Fault = {
  name: 'slot-map-ignores-dcp',
  title: 'New keys are written by global position',
  summary: 'A writer uses the global position of a token as if the cache were not dealt out over ranks.',
}
