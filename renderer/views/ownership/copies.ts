import type { Written } from '../../../app/dcp/coverage.ts'
import { localIndex, owner } from '../../../app/dcp/ownership.ts'
import type { Paging } from '../../../app/dcp/types.ts'

/** A place where a token was stored and the rule does not put it. */
export interface Copy {
  readonly rank: number
  readonly slot: number
  readonly page: number
  /** By the block table; null where the request has no such page, or its pages are not known. */
  readonly localIndex: number | null
}

/** A token and where it was stored beside its place: nowhere, where all is well. */
export interface Copies {
  readonly token: number | null
  readonly places: readonly Copy[]
}

export const NO_COPIES: Copies = { token: null, places: [] }

/** Where a token was stored beside its place; `pages`: physical page of each column, null unknown. */
export const copiesOf = (
  written: Written | null,
  paging: Paging,
  pages: ArrayLike<number> | null,
): Copies => {
  if (written === null) return NO_COPIES
  const { token } = written
  const places = written.places.map(({ rank, slot }): Copy => {
    const page = Math.floor(slot / paging.page)
    const column = pages === null ? -1 : Array.from(pages).indexOf(page)
    return { rank, slot, page, localIndex: column < 0 ? null : column * paging.page + (slot % paging.page) }
  })
  const isWrong = ({ rank, localIndex: at }: Copy): boolean =>
    rank !== owner(token, paging) || (pages !== null && at !== localIndex(token, paging))
  return { token, places: places.filter(isWrong) }
}

/** Tokens that a picture spans whose shards reach as far as the copies. */
export const extentOfCopies = ({ places }: Copies, { dcp }: Paging): number =>
  Math.max(0, ...places.map(({ localIndex: at }) => (at === null ? 0 : (at + 1) * dcp)))
