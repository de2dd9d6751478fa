import type { LayoutRequest } from '../../../app/dcp/layout.ts'
import { localLength } from '../../../app/dcp/ownership.ts'
import { formatInt } from '../../drawing/format.ts'
import { useInspector } from '../../shell/Inspector.tsx'
import { useSelection } from '../../state/selection.ts'
import { factsOf } from './facts.ts'
import { factRows, intRow } from './facts-text.ts'
import type { Shown } from './use-source.ts'

/** Puts the selected token, or else the request, into the inspector. */
export const useOwnershipInspector = (
  layout: LayoutRequest | null,
  { run, pages }: Shown,
  token: number | null,
): void => {
  const rank = useSelection((s) => s.rank)
  const picked = layout !== null && token !== null && token < layout.len ? token : null
  const rows =
    layout === null
      ? null
      : [
          ...(run === null
            ? []
            : [
                { label: 'request', value: String(run.request) },
                { label: 'step', value: String(run.step) },
              ]),
          { ...intRow('length', layout.len), note: 'tokens' },
          { label: 'dcp size', value: String(layout.dcp) },
          { label: 'interleave', value: String(layout.interleave), note: 'tokens' },
          { label: 'page size', value: String(layout.page), note: 'tokens' },
          ...(rank === null || rank >= layout.dcp
            ? []
            : [
                {
                  ...intRow(`local length, rank ${rank}`, localLength(layout.len, rank, layout)),
                  note: 'tokens',
                },
              ]),
          ...(picked === null ? [] : factRows(factsOf(picked, layout.len, layout, pages), run !== null)),
        ]
  const title = picked === null ? 'Request' : `Token ${formatInt(picked)}`
  useInspector({ view: 'ownership', title, rows, about: ['token', 'request', 'step', 'rank'] }, [
    layout,
    run?.id,
    run?.step,
    run?.request,
    pages,
    picked,
    rank,
  ])
}
