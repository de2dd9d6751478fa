import { formatFloat } from '../../drawing/format.ts'
import { useInspector } from '../../shell/Inspector.tsx'
import { useSelection } from '../../state/selection.ts'
import { keysText, lseText } from './lse-text.ts'
import type { RankPart } from './model.ts'
import type { MergeState } from './use-merge.ts'
import { sciText } from './Verdicts.tsx'

interface Row {
  readonly label: string
  readonly value: string
  readonly copy?: string
  readonly note?: string
}

const rankRows = (part: RankPart, kernelLse: number): Row[] => [
  { label: 'rank', value: String(part.rank) },
  {
    label: 'visible keys',
    value: keysText(part.visibleKeys),
    copy: String(part.visibleKeys ?? '–'),
  },
  { label: 'lse', value: lseText(part.lse), copy: String(part.lse) },
  {
    label: 'lse of the kernel',
    value: lseText(kernelLse),
    copy: String(kernelLse),
  },
  { label: 'weight', value: formatFloat(part.weight, 6), copy: String(part.weight) },
  {
    label: '|out|',
    value: Number.isFinite(part.norm) ? formatFloat(part.norm, 6) : 'NaN',
    copy: String(part.norm),
  },
]

const mergeRows = (
  { choice, capture, row, head, model, input }: MergeState,
  rank: number | null,
): Row[] | null => {
  if (choice?.kind !== 'captured' || capture === null || model === null || input === null) return null
  const part = rank === null ? undefined : model.ranks[rank]
  const { againstReference, againstRecomputed, referenceLse } = model
  return [
    { label: 'step', value: String(choice.key.step) },
    { label: 'layer', value: String(choice.key.layer) },
    { label: 'request', value: String(capture.request[row] ?? 0) },
    { label: 'query token', value: String(capture.qIndex[row] ?? 0) },
    { label: 'head', value: String(head) },
    { label: 'kept by rank', value: String(model.mergedRank) },
    {
      label: 'lse merged',
      value: lseText(model.lse),
      copy: String(model.lse),
      note: `base ${capture.lseBase}`,
    },
    ...(referenceLse === null
      ? []
      : [{ label: 'lse of the reference', value: lseText(referenceLse), copy: String(referenceLse) }]),
    ...(againstReference === null
      ? []
      : [
          {
            label: 'error, reference',
            value: sciText(againstReference.relative),
            copy: String(againstReference.relative),
          },
        ]),
    {
      label: 'error, this merge',
      value: sciText(againstRecomputed.relative),
      copy: String(againstRecomputed.relative),
    },
    ...(part === undefined ? [] : rankRows(part, input.lseKernel[part.rank] ?? Number.NaN)),
  ]
}

/** Puts the row and head that are shown, and the selected rank's part, into the inspector. */
export const useMergeInspector = (state: MergeState): void => {
  const rank = useSelection((s) => s.rank)
  const rows = mergeRows(state, rank)
  useInspector(
    { view: 'merge', title: 'Merge', rows, about: ['step', 'layer', 'request', 'qIndex', 'head', 'rank'] },
    [state.input, state.capture, state.row, state.head, rank],
  )
}
