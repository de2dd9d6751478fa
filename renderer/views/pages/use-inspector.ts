import { formatInt } from '../../drawing/format.ts'
import { type InspectorRow, useInspector } from '../../shell/Inspector.tsx'
import { cellRows, holdsNewest, newestRows } from './facts.ts'
import type { SelectedCell } from './use-cell.ts'
import { type Pages, pagingFor } from './use-pages.ts'

const count = (label: string, value: number, note?: string): InspectorRow => ({
  label,
  value: formatInt(value),
  copy: String(value),
  ...(note === undefined ? {} : { note }),
})

/** Puts the selected cell, or else the table and its pool, into the inspector. */
export const usePagesInspector = (pages: Pages, { cell }: SelectedCell): void => {
  const { summary, paging, shown } = pages
  const table: InspectorRow[] = [
    count('rank', shown.rank, `of ${shown.ranks}`),
    count('requests', summary.batch),
    count(
      'columns',
      summary.columns ?? summary.widest,
      summary.columns === null ? 'of the widest' : 'of each',
    ),
    ...(paging === null
      ? []
      : [
          count('page size', paging.page, 'tokens'),
          count('virtual page', paging.page * paging.dcp, 'tokens'),
        ]),
    summary.poolPages === null
      ? { label: 'pool', value: 'unknown' }
      : count('pool', summary.poolPages, 'pages'),
    count('in use', summary.usedPages, 'pages'),
    ...summary.checks.map(({ rule, state, count: broken, detail }) => ({
      label: rule,
      value: state === 'holds' ? 'holds' : state === 'broken' ? `broken: ${formatInt(broken)}` : 'not known',
      copy: `${rule}: ${detail}`,
    })),
  ]
  const own = cell === null ? null : pagingFor(pages, cell.request)
  const newest = cell === null || own === null || holdsNewest(cell, own) ? [] : newestRows(cell, own)
  const rows = cell === null ? table : [count('rank', shown.rank), ...cellRows(cell, own), ...newest]
  useInspector(
    {
      view: 'pages',
      title:
        cell === null
          ? 'Block table'
          : `Request ${formatInt(cell.request)}, column ${formatInt(cell.column)}`,
      rows,
      about: ['step', 'rank', 'request', 'token', 'page'],
    },
    [pages, cell],
  )
}
