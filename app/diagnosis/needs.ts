import type { Case } from './case.ts'

/** Tensors and metadata that together suffice; each entry is a name, or names joined by ` or `, of which one suffices. */
export interface Need {
  readonly names: readonly string[]
  /** Every rank has to be there with its tensors; otherwise one rank suffices. */
  readonly all: boolean
}

export const ofAllRanks = (...names: string[]): Need => ({ names, all: true })
export const ofOneRank = (...names: string[]): Need => ({ names, all: false })

/** What the fp64 reference is computed from. */
export const REFERENCE = ['q', 'kv or kv_k', 'block_table', 'seq_lens_global', 'page_size', 'softmax_scale']

/** What is missing of a need, in words; empty when all is there. */
export const missing = (c: Case, { names, all }: Need): string[] => {
  const absent = names.flatMap((name) => {
    const lacking = c.ranks.filter((_, i) => !isThere(c, i, name)).map(({ rank }) => rank)
    if (lacking.length === 0 || (!all && lacking.length < c.ranks.length)) return []
    return [lacking.length === c.ranks.length ? name : `${name} of ${rankWords(lacking)}`]
  })
  const ranks = all ? c.group.missing : []
  return ranks.length === 0 ? absent : [...absent, `the files of ${rankWords(ranks)}`]
}

const rankWords = (ranks: readonly number[]): string =>
  `${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')}`

const isThere = (c: Case, at: number, name: string): boolean =>
  name.split(' or ').some((one) => {
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
      default:
        return dump.reader.has(one)
    }
  })
