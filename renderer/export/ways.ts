import type { Found } from './found.ts'
import { savePicture, saveTable } from './save.ts'

/** One way in which something leaves the window. */
export interface Way {
  readonly title: string
  readonly run: (found: Found) => Promise<void>
}

const picture = (format: 'png' | 'svg'): Way => ({
  title: `Save as ${format.toUpperCase()}`,
  run: async (found) => {
    if (found.kind === 'picture') await savePicture(found, format)
  },
})

const table = (title: string, format: 'csv' | 'text'): Way => ({
  title,
  run: async (found) => {
    if (found.kind === 'table') await saveTable(found.source, format)
  },
})

const WAYS: Readonly<Record<Found['kind'], readonly Way[]>> = {
  picture: [picture('png'), picture('svg')],
  table: [table('Save as CSV', 'csv'), table('Copy with tabs', 'text')],
}

/** How something can be saved or copied. */
export const waysOf = ({ kind }: Found): readonly Way[] => WAYS[kind]
