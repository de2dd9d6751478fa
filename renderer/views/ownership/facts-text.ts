import { formatInt } from '../../drawing/format.ts'
import type { InspectorRow } from '../../shell/Inspector.tsx'
import type { Copies } from './copies.ts'
import type { TokenFacts } from './facts.ts'

/** A whole number, spaced for the eye and copied as it is. */
export const intRow = (label: string, value: number): InspectorRow => ({
  label,
  value: formatInt(value),
  copy: String(value),
})

/** Facts of a token in the words of hover card and inspector. */
export const factRows = (facts: TokenFacts, hasTable: boolean): InspectorRow[] => {
  const missing = hasTable ? 'not allocated' : 'no run'
  const placed = (label: string, value: number | null): InspectorRow =>
    value === null ? { label, value: missing } : intRow(label, value)
  const token = intRow('token', facts.token)
  const column = intRow('virtual page', facts.column)
  return [
    facts.newest ? { ...token, value: `${token.value} (newest)` } : token,
    { label: 'owner', value: `rank ${facts.owner}`, copy: String(facts.owner) },
    intRow('local index', facts.localIndex),
    { ...column, value: `column ${column.value}` },
    intRow('offset in page', facts.offset),
    placed('physical page', facts.page),
    placed('slot', facts.slot),
  ]
}

/** Keys that a rank counts, where that is known, and by the rule where it counts others. */
export const localLengthRow = (rank: number, byRule: number, counted: number = byRule): InspectorRow => ({
  ...intRow(`local length, rank ${rank}`, counted),
  note: counted === byRule ? 'tokens' : `tokens, ${formatInt(byRule)} by the rule`,
})

/** Every other place of a token that is stored more than once, or where it does not belong. */
export const copyRows = ({ places }: Copies): InspectorRow[] =>
  places.map(({ rank, slot, page, localIndex }) => ({
    ...intRow(`also on rank ${rank}, slot`, slot),
    note:
      localIndex === null
        ? `page ${formatInt(page)}, none of this request's`
        : `page ${formatInt(page)}, local index ${formatInt(localIndex)}`,
  }))
