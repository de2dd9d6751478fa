import { formatValue } from '../../drawing/format.ts'
import { type InspectorRow, useInspector } from '../../shell/Inspector.tsx'
import { useSelection } from '../../state/selection.ts'
import { mapValue } from './map-layout.ts'
import { cellText, MEASURE_WORDS, rankName, typeText } from './model.ts'
import type { DumpView, Shown } from './use-dump-view.ts'
import type { RankMaps } from './use-rank-maps.ts'
import type { Vector } from './Values.tsx'

const numberRow = (label: string, value: number): InspectorRow => ({
  label,
  value: formatValue(value),
  copy: String(value),
})

const cellRows = (shown: Shown, tensor: string, maps: RankMaps): InspectorRow[] => {
  const { part, group, measure } = shown
  const cell = part === null ? undefined : shown.cells.get(part.rank)
  if (part === null || cell === undefined) return []
  const map = maps.maps.get(part.rank)
  const request = group.request[cell.row]
  const length = request === undefined ? undefined : group.globalLens?.[request]
  return [
    { label: 'cell', value: cellText(part, tensor, group, cell) },
    ...(map === undefined ? [] : [numberRow(MEASURE_WORDS[measure], mapValue(map, cell))]),
    ...(part.grid.rowName === 'row' && length !== undefined
      ? [{ ...numberRow('request length', length), note: 'tokens' }]
      : []),
  ]
}

/** What the inspector says of the shown tensor and the picked cell. */
export const inspectorRows = (view: DumpView, shown: Shown, maps: RankMaps): InspectorRow[] | null => {
  const { part, tensor } = shown
  if (part === null || tensor === null || view.ref === null) return null
  const entry = part.file.tensors.find(({ name }) => name === tensor)
  const counts = maps.maps.get(part.rank)?.counts
  const doc = shown.rows.find(({ name }) => name === tensor)?.doc
  return [
    { label: 'tensor', value: tensor },
    ...(doc == null ? [] : [{ label: 'meaning', value: doc }]),
    { label: 'step', value: String(view.ref.step) },
    { label: 'layer', value: String(view.ref.layer) },
    { label: 'rank', value: rankName(part.rank) },
    { label: 'file', value: part.file.file },
    ...(entry === undefined ? [] : [{ label: 'shape and type', value: typeText(entry) }]),
    ...cellRows(shown, tensor, maps),
    ...(counts === undefined
      ? []
      : [
          numberRow('values', counts.values),
          numberRow('NaN', counts.nan),
          numberRow('+∞', counts.plusInf),
          numberRow('−∞', counts.minusInf),
          numberRow('zero', counts.zero),
          numberRow('least', counts.least),
          numberRow('most', counts.most),
          numberRow('mean', counts.mean),
          numberRow('rms', counts.rms),
        ]),
    ...part.file.metadata.map(({ key, value }) => ({ label: key, value })),
  ]
}

/** Puts the shown tensor and the picked cell into the inspector. */
export const usePostmortemInspector = (
  view: DumpView,
  shown: Shown,
  maps: RankMaps,
  vector: Vector | null,
): void => {
  const rank = useSelection((s) => s.rank)
  useInspector(
    {
      view: 'postmortem',
      title: 'Tensor',
      rows: inspectorRows(view, shown, maps),
      about: ['step', 'layer', 'request', 'qIndex', 'head', 'rank'],
    },
    [view.ref?.dump, shown, maps, vector, rank],
  )
}
