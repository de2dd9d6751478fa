import type { Case } from './case.ts'

/**
 * Tensors and metadata of every rank that together suffice; each entry is a name, or names joined by ` or `, of which one
 * suffices.
 */
export type Need = readonly string[]

export const needs = (...names: string[]): Need => names

/** What the fp64 reference is computed from. */
export const REFERENCE = [
  'q',
  'kv or kv_k + kv_v',
  'block_table',
  'seq_lens_global',
  'page_size',
  'softmax_scale',
]

/** Queries are the same on every rank. */
const OF_ANY_RANK = ['q']

/** Every page of the table up to the global length is among the dumped ones. */
export const ALL_PAGES = 'all pages of block_table in kv'

/** What is missing of a need, in words; empty when all is there. */
export const missing = (c: Case, names: Need): string[] => {
  const absent = missingTensors(c, names)
  const ranks = c.group.missing
  return ranks.length === 0 ? absent : [...absent, `the files of ${rankWords(ranks)}`]
}

/** The same of the ranks that are there. */
export const missingTensors = (c: Case, names: Need): string[] => {
  return names.flatMap((name) => {
    const lacking = c.ranks.filter((_, i) => !isThere(c, i, name)).map(({ rank }) => rank)
    if (lacking.length === 0 || (OF_ANY_RANK.includes(name) && lacking.length < c.ranks.length)) return []
    return [lacking.length === c.ranks.length ? name : `${name} of ${rankWords(lacking)}`]
  })
}

const rankWords = (ranks: readonly number[]): string =>
  `${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')}`

const isThere = (c: Case, at: number, name: string): boolean =>
  name.split(' or ').some((any) =>
    any.split(' + ').every((one) => {
      const dump = c.ranks[at]?.dump
      if (dump === undefined) return false
      switch (one) {
        case 'page_size':
          return c.page !== undefined
        case 'softmax_scale':
          return c.scale !== undefined
        case 'lse_base':
          return dump.info.lseBase !== undefined
        case 'max_len':
          return c.maxLen !== undefined
        case ALL_PAGES:
          return hasAllPages(c, at)
        default:
          return dump.reader.has(one)
      }
    }),
  )

const hasAllPages = (c: Case, at: number): boolean => {
  const { table, dumpedPages } = c.ranks[at] ?? {}
  const { page, lengths } = c
  if (table === undefined || dumpedPages === undefined || page === undefined || lengths === undefined)
    return false
  return table.values.every((id, index) => {
    const needed = Math.ceil((lengths[Math.floor(index / table.columns)] ?? 0) / page)
    return id < 0 || index % table.columns >= needed || dumpedPages.has(id)
  })
}
