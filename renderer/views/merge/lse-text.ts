import { formatFloat, formatInt } from '../../drawing/format.ts'
import type { RankPart } from './model.ts'

export const lseText = (lse: number): string => {
  if (Number.isNaN(lse)) return 'NaN'
  if (!Number.isFinite(lse)) return lse > 0 ? '+∞' : '−∞'
  return formatFloat(lse, 4)
}

/** A rank that holds no key of the row says so; others need no word. */
export const stateText = (part: RankPart): string => {
  switch (part.state) {
    case 'finite':
      return ''
    case 'empty':
      return 'empty'
    case 'plusInf':
      return 'empty (+∞)'
    case 'nan':
      return 'empty (NaN)'
  }
}

/** A count of keys, or that the bundle does not have it (yet). */
export const keysText = (keys: number | null): string => (keys === null ? '–' : formatInt(keys))
