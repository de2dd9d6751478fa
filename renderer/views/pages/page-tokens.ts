import { tokenAt } from '../../../app/dcp/pages.ts'
import type { Paging } from '../../../app/dcp/types.ts'

/** The tokens whose keys lie in a virtual page on any rank, in order. */
export interface PageTokens {
  readonly count: number
  readonly at: (index: number) => number
  /** Place of a token among them; null where it lies in another page. */
  readonly placeOf: (token: number) => number | null
}

/** Of tokens that are dealt out in one go page * dcp follow each other; else those behind the prompt may come in between. */
export const tokensOfColumn = (column: number, paging: Paging): PageTokens => {
  const count = paging.page * paging.dcp
  if (paging.prompt === undefined) {
    const first = column * count
    return {
      count,
      at: (index) => first + index,
      placeOf: (token) => (token >= first && token < first + count ? token - first : null),
    }
  }
  const tokens = Float64Array.from({ length: count }, (_, i) =>
    tokenAt(Math.floor(i / paging.page), column, i % paging.page, paging),
  ).sort()
  return {
    count,
    at: (index) => tokens[index] ?? 0,
    placeOf: (token) => {
      const place = tokens.indexOf(token)
      return place < 0 ? null : place
    },
  }
}
