import { formatInt } from '../../drawing/format.ts'
import type { TokenFacts } from './facts.ts'

/** Facts of a token in the words of hover card and inspector. */
export const factRows = (facts: TokenFacts, hasTable: boolean): { label: string; value: string }[] => {
  const missing = hasTable ? 'not allocated' : 'no run'
  return [
    { label: 'token', value: `${formatInt(facts.token)}${facts.newest ? ' (newest)' : ''}` },
    { label: 'owner', value: `rank ${facts.owner}` },
    { label: 'local index', value: formatInt(facts.localIndex) },
    { label: 'virtual page', value: `column ${formatInt(facts.column)}` },
    { label: 'offset in page', value: String(facts.offset) },
    { label: 'physical page', value: facts.page === null ? missing : String(facts.page) },
    { label: 'slot', value: facts.slot === null ? missing : formatInt(facts.slot) },
  ]
}
