import type { LayoutRequest } from '../../../app/dcp/layout.ts'
import { layoutOf } from '../../../app/dcp/layout.ts'
import { movedTokens } from '../../../app/dcp/moved.ts'
import { NumberField } from '../../controls/NumberField.tsx'
import { formatInt, formatPercent } from '../../drawing/format.ts'
import { CloseIcon } from '../../shell/icons.tsx'
import { useCalculator } from '../../state/calculator.ts'
import { useSelection } from '../../state/selection.ts'
import { OwnershipCanvas } from './OwnershipCanvas.tsx'
import { RingCanvas } from './RingCanvas.tsx'
import { sourceOfFields, sourceText } from './source.ts'
import { useRing } from './use-ring.ts'
import type { ViewportControl } from './use-viewport.ts'

interface Props {
  readonly layout: LayoutRequest
  readonly beside: { readonly dcp: number; readonly interleave: number }
  readonly viewport: ViewportControl
}

/** The rule that is shown beside `layout`, or why it cannot be. */
export const besideSource = (layout: LayoutRequest, { dcp, interleave }: Props['beside']) =>
  sourceOfFields({
    len: layout.len,
    dcp,
    interleave,
    // A page holds whole runs.
    page: layout.page % interleave === 0 ? layout.page : interleave,
    ...(layout.prompt === undefined ? {} : { prompt: layout.prompt }),
  })

/** The same tokens dealt out by another rule: same zoom, same selected token, and how many change their rank. */
export const Beside = ({ layout, beside, viewport }: Props) => {
  const { picture, setBeside } = useCalculator()
  const ring = useRing(useSelection((s) => s.token))
  const source = besideSource(layout, beside)
  return (
    <section className="ownership-beside" aria-label="Another rule beside it">
      <header className="toolbar">
        <span>Beside it</span>
        <NumberField
          label="dcp"
          value={beside.dcp}
          min={1}
          digits={3}
          invalid={!source.ok}
          testId="ownership-beside-dcp"
          onChange={(dcp) => setBeside({ ...beside, dcp })}
        />
        <NumberField
          label="interleave"
          value={beside.interleave}
          min={1}
          digits={7}
          invalid={!source.ok}
          testId="ownership-beside-interleave"
          onChange={(interleave) => setBeside({ ...beside, interleave })}
        />
        <span className="quiet" data-testid="ownership-beside-note" role="status">
          {source.ok ? besideText(layout, source.layout) : sourceText(source.issues)}
        </span>
        <button
          type="button"
          className="button button-quiet button-icon ownership-beside-close"
          title="Show one rule only"
          aria-label="Show one rule only"
          onClick={() => setBeside(null)}
        >
          <CloseIcon />
        </button>
      </header>
      {!source.ok ? null : picture === 'ring' ? (
        <RingCanvas
          layout={source.layout}
          pages={null}
          hasTable={false}
          control={ring}
          testId="ownership-beside-ring"
        />
      ) : (
        <OwnershipCanvas
          layout={source.layout}
          pages={null}
          hasTable={false}
          viewport={viewport}
          testId="ownership-beside-canvas"
        />
      )}
    </section>
  )
}

/** How many tokens change their rank, and how even both rules are. */
export const besideText = (layout: LayoutRequest, other: LayoutRequest): string => {
  const moved = movedTokens(layout.len, layout, other)
  const spread = (one: LayoutRequest): number => {
    const lens = layoutOf(one).ranks.map(({ localLen }) => localLen)
    return Math.max(...lens) - Math.min(...lens)
  }
  const movedText =
    moved === null
      ? ''
      : `${formatInt(moved)} of ${formatInt(layout.len)} tokens (${formatPercent(layout.len === 0 ? 0 : moved / layout.len)}) lie on another rank; `
  return `${movedText}longest and shortest part differ by ${formatInt(spread(layout))}, beside it by ${formatInt(spread(other))}`
}
