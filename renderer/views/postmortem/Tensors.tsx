import { useAnswer } from '../../state/use-answer.ts'
import { HistogramPicture } from './HistogramPicture.tsx'
import { Maps } from './Maps.tsx'
import type { TensorRow } from './model.ts'
import { rankName, typeText } from './model.ts'
import { usePick } from './pick.ts'
import { RankTable } from './RankTable.tsx'
import type { DumpView, Shown } from './use-dump-view.ts'
import { usePostmortemInspector } from './use-inspector.ts'
import { usePostmortemKeys } from './use-postmortem-keys.ts'
import { useRankMaps } from './use-rank-maps.ts'
import { Values } from './Values.tsx'

/** The tensors of one step and layer: a list, and of the picked one a map a rank, counts, histogram and values. */
export const Tensors = ({ view }: { readonly view: DumpView }) => {
  const { ref, shown } = view
  if (ref === null || shown === null)
    return (
      <div className="empty-state" aria-live="polite">
        <p>{view.error === null ? 'Reading the files …' : 'The files could not be read.'}</p>
      </div>
    )
  return (
    <div className="pm-body">
      <TensorList rows={shown.rows} picked={shown.tensor} />
      {shown.tensor === null ? (
        <div className="empty-state">
          <p>No tensor of this step and layer is one of the format, so there is nothing to look into.</p>
        </div>
      ) : (
        <Tensor view={view} shown={shown} tensor={shown.tensor} />
      )}
    </div>
  )
}

const TensorList = ({
  rows,
  picked,
}: {
  readonly rows: readonly TensorRow[]
  readonly picked: string | null
}) => {
  const change = usePick((s) => s.change)
  return (
    <div className="pm-list">
      <h3>Tensors</h3>
      {rows.map((row) => (
        <button
          key={`${row.name} ${row.shape} ${row.dtype}`}
          type="button"
          className="pm-tensor"
          aria-pressed={row.name === picked}
          disabled={row.doc === null}
          title={row.doc ?? 'Not of the format: it is listed and not looked at'}
          data-testid={`pm-tensor-${row.name}`}
          onClick={() => change({ tensor: row.name, all: false })}
        >
          <span className="pm-tensor-name">{row.name}</span>
          <span className="pm-tensor-ranks">{ranksText(row)}</span>
          <span className="num pm-tensor-type">{typeText(row)}</span>
        </button>
      ))}
    </div>
  )
}

const ranksText = ({ ranks }: TensorRow): string => {
  const numbers = ranks.filter((rank) => rank !== 'reference')
  const [first] = ranks
  if (ranks.length === 1 && first !== undefined) return rankName(first)
  return `${numbers.length} ranks${numbers.length === ranks.length ? '' : ' + ref.'}`
}

const Tensor = ({
  view,
  shown,
  tensor,
}: {
  readonly view: DumpView
  readonly shown: Shown
  readonly tensor: string
}) => {
  const all = usePick((s) => s.all)
  const { ref } = view
  const wanted = ref === null ? null : { ...ref, tensor, all }
  const maps = useRankMaps(
    wanted === null
      ? null
      : { ...wanted, measure: shown.measure, ranks: shown.parts.map(({ rank }) => rank) },
  )
  const histogram = useAnswer(
    'tensorHistogram',
    wanted === null || shown.part === null ? null : { ...wanted, rank: shown.part.rank },
  )
  const cells = [...shown.cells].map(([rank, cell]) => ({ rank, ...cell }))
  const vector = useAnswer(
    'tensorVector',
    ref === null || cells.length === 0 ? null : { ...ref, tensor, cells, from: 0, max: 4096 },
  )
  usePostmortemInspector(view, shown, maps, vector.answer?.data ?? null)
  usePostmortemKeys(view, shown, vector.answer?.data ?? null)
  const error = maps.error ?? histogram.error ?? vector.error
  return (
    <div className="pm-tensor-view">
      {error === null ? null : (
        <p className="pm-error selectable" role="alert">
          {error}
        </p>
      )}
      <Maps shown={shown} tensor={tensor} maps={maps} />
      <div className="pm-middle">
        <RankTable shown={shown} maps={maps} />
        <HistogramPicture shown={shown} histogram={histogram} />
      </div>
      <Values shown={shown} tensor={tensor} answer={vector.answer} />
    </div>
  )
}
