import { type Layout, layoutOf, parseLayout } from '../../app/dcp/layout.ts'
import { badInput } from './failure.ts'
import { textTable } from './text-table.ts'

export interface LayoutOptions {
  readonly len: string
  readonly dcp: string
  readonly interleave: string
  readonly page: string
  readonly token?: string
  readonly json?: boolean
}

/** What `layout` prints. */
export const layoutCommand = ({ json, ...given }: LayoutOptions): string => {
  const parsed = parseLayout(
    Object.fromEntries(Object.entries(given).map(([k, text]) => [k, numberOf(text)])),
  )
  if (!parsed.ok) throw badInput(parsed.issues.map(({ path, message }) => `--${path}: ${message}`).join('; '))
  const layout = layoutOf(parsed.request)
  return json === true ? JSON.stringify(layout) : layoutText(layout)
}

/** A number where the text is one; else the text, so that the rule names what was given. */
const numberOf = (text: string): number | string => (/^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text)

const layoutText = ({ len, dcp, interleave, page, newestOwner, ranks, token }: Layout): string => {
  const sum = ranks.reduce((total, rank) => total + rank.localLen, 0)
  const lines = [
    `${len} tokens on ${dcp} ${dcp === 1 ? 'rank' : 'ranks'}, interleave ${interleave}, page ${page}`,
    newestOwner === null ? 'no newest token' : `newest token ${len - 1} is on rank ${newestOwner}`,
    '',
    textTable(
      ['rank', 'local length', 'local pages'],
      ranks.map(({ rank, localLen, localPages }) => [rank, localLen, localPages]),
    ),
    `sum of local lengths ${sum}`,
  ]
  if (token !== undefined)
    lines.push(
      '',
      `token ${token.global}: rank ${token.owner}, local index ${token.localIndex}, ` +
        `virtual page ${token.virtualPage}, offset ${token.offset}`,
    )
  return lines.join('\n')
}
