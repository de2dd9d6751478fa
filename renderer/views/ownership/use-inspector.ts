import type { LayoutRequest } from '../../../app/dcp/layout.ts'
import { localLength } from '../../../app/dcp/ownership.ts'
import { formatInt } from '../../drawing/format.ts'
import { useInspector } from '../../shell/Inspector.tsx'
import { useSelection } from '../../state/selection.ts'
import type { Copies } from './copies.ts'
import { factsOf } from './facts.ts'
import { copyRows, factRows, intRow, localLengthRow } from './facts-text.ts'
import type { Shown } from './use-source.ts'

/** Puts the selected token, or else the request, into the inspector. */
export const useOwnershipInspector = (
  layout: LayoutRequest | null,
  { run, dump, pages, recorded }: Shown,
  copies: Copies,
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
          ...(dump === null
            ? []
            : [
                { label: 'dump', value: dump.of.name },
                { label: 'request', value: String(dump.request) },
                { label: 'step', value: String(dump.of.step) },
                { label: 'layer', value: String(dump.of.layer) },
              ]),
          { ...intRow('length', layout.len), note: 'tokens' },
          { label: 'dcp size', value: String(layout.dcp) },
          { label: 'interleave', value: String(layout.interleave), note: 'tokens' },
          { label: 'page size', value: String(layout.page), note: 'tokens' },
          ...(rank === null || rank >= layout.dcp
            ? []
            : [localLengthRow(rank, localLength(layout.len, rank, layout), recorded?.localLens[rank])]),
          ...(picked === null
            ? []
            : factRows(factsOf(picked, layout.len, layout, pages), run !== null || dump !== null)),
          ...(picked === null || picked !== copies.token ? [] : copyRows(copies)),
        ]
  const title = picked === null ? 'Request' : `Token ${formatInt(picked)}`
  useInspector({ view: 'ownership', title, rows, about: ['token', 'request', 'step', 'rank'] }, [
    layout,
    run?.id,
    run?.step,
    run?.request,
    dump,
    recorded,
    copies,
    pages,
    picked,
    rank,
  ])
}
