import { useMemo, useState } from 'react'
import { useCanvas } from '../../drawing/canvas.ts'
import { formatInt, formatValue } from '../../drawing/format.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import type { AnswerState } from '../../state/use-answer.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { drawHistogram, HISTOGRAM_EDGE } from './draw-histogram.ts'
import { type Bar, barAt, type Histogram, linearBars, octaveBars } from './histogram.ts'
import { ordinal } from './map-layout.ts'
import { rankName } from './model.ts'
import { usePick } from './pick.ts'
import type { Shown } from './use-dump-view.ts'

interface Props {
  readonly shown: Shown
  readonly histogram: AnswerState<'tensorHistogram'>
}

/** How the values of the shown rank are distributed; NaN, infinities and zeros stand apart. */
export const HistogramPicture = ({ shown, histogram }: Props) => {
  const theme = useTheme()
  const { octaves, change } = usePick()
  const [hovered, setHovered] = useState<Bar | null>(null)
  const data = histogram.answer?.data ?? null
  const of = histogram.answer?.params.rank
  const bars = useMemo(
    () => (data === null ? [] : octaves ? octaveBars(data) : linearBars(data)),
    [data, octaves],
  )
  const rank = of === undefined || of === 'reference' ? null : of
  const canvas = useCanvas(
    (ctx, width, height) => drawHistogram(ctx, width, height, theme, { bars, rank, hovered }),
    [theme, bars, rank, hovered],
  )
  return (
    <figure className="pm-histogram">
      <figcaption>
        <span className="pm-caption">
          Histogram, {shown.part === null ? '' : rankName(shown.part.rank)}
          <button
            type="button"
            className="button"
            aria-pressed={octaves}
            title="Equal steps or powers of two (L)"
            data-testid="pm-octaves"
            onClick={() => change({ octaves: !octaves })}
          >
            powers of two
          </button>
          {data === null ? null : <CopyButton text={tableText(data, bars)} what="the histogram" />}
        </span>
        <span className="num pm-note" data-testid="pm-bar">
          {hovered === null ? '' : barText(hovered)}
        </span>
      </figcaption>
      <canvas
        ref={canvas}
        role="img"
        aria-label={data === null ? 'Histogram' : `Histogram: ${countsText(data)}`}
        onPointerMove={(event) => {
          const plot = event.currentTarget.clientWidth - HISTOGRAM_EDGE.left - HISTOGRAM_EDGE.right
          setHovered(barAt(bars, event.nativeEvent.offsetX - HISTOGRAM_EDGE.left, plot))
        }}
        onPointerLeave={() => setHovered(null)}
      />
      <p className="pm-counts num" data-testid="pm-counts">
        {data === null ? 'reading …' : countsText(data)}
      </p>
    </figure>
  )
}

const barText = ({ from, to, count }: Bar): string =>
  `${formatValue(from)} to ${formatValue(to)}: ${formatInt(count)}`

const countsText = ({ counts, rowStep }: Histogram): string =>
  [
    `${formatInt(counts.values)} values${rowStep > 1 ? ` (every ${ordinal(rowStep)} row)` : ''}`,
    `NaN ${formatInt(counts.nan)}`,
    `+∞ ${formatInt(counts.plusInf)}`,
    `−∞ ${formatInt(counts.minusInf)}`,
    `zero ${formatInt(counts.zero)}`,
    `mean ${formatValue(counts.mean)}`,
    `rms ${formatValue(counts.rms)}`,
  ].join(' · ')

const tableText = (data: Histogram, bars: readonly Bar[]): string =>
  [
    'from\tto\tcount',
    ...bars.map(({ from, to, count }) => `${from}\t${to}\t${count}`),
    ...(['nan', 'plusInf', 'minusInf', 'zero'] as const).map((name) => `${name}\t\t${data.counts[name]}`),
  ].join('\n')
