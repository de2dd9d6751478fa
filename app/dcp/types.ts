/**
 * Numbers that are easily confused. A plain number fits each of them, but one kind does not fit another, so
 * that a local index where a token index is wanted does not compile; nothing is wrapped or converted at run time.
 */
declare const kind: unique symbol
type Kind<K extends string> = number & { readonly [kind]?: K }

/** Global position of a token in its request, from 0. */
export type TokenIndex = Kind<'TokenIndex'>
/** Position of a key among the keys that one rank holds of a request, from 0. */
export type LocalIndex = Kind<'LocalIndex'>
/** Rank within the DCP group, from 0. */
export type RankId = Kind<'RankId'>
/** Column of the block table: page * dcp consecutive global tokens. */
export type VirtualPage = Kind<'VirtualPage'>
/** Physical page, the same number on every rank. */
export type PageId = Kind<'PageId'>
/** Token row of a rank's pool: page * page size + offset; -1 on ranks that do not own the token. */
export type Slot = Kind<'Slot'>

/** How the tokens of a request are dealt out. */
export interface Sharding {
  /** Ranks of the group (c), 1 to 64. */
  readonly dcp: number
  /** Consecutive tokens that go to one rank (I). */
  readonly interleave: number
  /**
   * Tokens of the prompt where generated tokens are dealt out anew behind it, from rank 0 on, as Helix does. Left out: they go
   * on where the prompt ended.
   */
  readonly prompt?: number | undefined
}

/** Sharding, and the pages in which a rank keeps its part. */
export interface Paging extends Sharding {
  /** Tokens of one physical page (P), a multiple of `interleave`. */
  readonly page: number
}
