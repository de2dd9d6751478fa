import { MAX_DCP_SIZE } from '../run/config.ts'
import type { Paging, Sharding } from './types.ts'

/** Longest sequence, in tokens. Products with 64 ranks stay exact in a float64. */
export const MAX_TOKENS = 2 ** 40
export const MAX_INTERLEAVE = 2 ** 20
export const MAX_PAGE = 2 ** 20
/** Most physical pages of a pool; with MAX_PAGE tokens each, slots stay exact in a float64. */
export const MAX_PAGES = 2 ** 32

/** Throws RangeError `NAME must be a whole number from MIN to MAX, got VALUE`. */
export const checkInt = (name: string, value: number, min: number, max: number): void => {
  if (!Number.isInteger(value) || value < min || value > max)
    throw new RangeError(`${name} must be a whole number from ${min} to ${max}, got ${value}`)
}

export const checkSharding = ({ dcp, interleave, prompt = 0 }: Sharding): void => {
  checkInt('dcp', dcp, 1, MAX_DCP_SIZE)
  checkInt('prompt', prompt, 0, MAX_TOKENS)
  checkInt('interleave', interleave, 1, MAX_INTERLEAVE)
}

export const checkPaging = (paging: Paging): void => {
  checkSharding(paging)
  checkInt('page', paging.page, 1, MAX_PAGE)
  if (paging.page % paging.interleave !== 0)
    throw new RangeError(`interleave must divide page (${paging.page}), got ${paging.interleave}`)
}

export const checkRank = (rank: number, { dcp }: Sharding): void => checkInt('rank', rank, 0, dcp - 1)
export const checkToken = (token: number): void => checkInt('token', token, 0, MAX_TOKENS - 1)
export const checkLength = (len: number): void => checkInt('len', len, 0, MAX_TOKENS)
