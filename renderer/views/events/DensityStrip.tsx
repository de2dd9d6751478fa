import { useState } from 'react'
import type { EventFilter } from '../../../app/protocol/store.ts'
import { NumberField } from '../../controls/NumberField.tsx'
import { formatInt } from '../../drawing/format.ts'
import { useSelection } from '../../state/selection.ts'
import { barHeight, type Density, densityText, LANES, mostOf, partText, stepsOfParts } from './density.ts'

const LANE = 20
const GAP = 2
const HEIGHT = LANES.length * (LANE + GAP)

/** The bars of a lane that stands on `bottom`, as one path. */
const barsPath = (counts: Int32Array, most: number, bottom: number): string =>
  Array.from(counts, (count, part) => {
    if (count === 0) return ''
    const height = Math.max(3, barHeight(count, most) * LANE)
    return `M${part} ${bottom}v${-height}h1v${height}z`
  }).join('')

interface Props {
  readonly density: Density
  readonly filter: EventFilter
  readonly onRange: (from: number | null, to: number | null) => void
}

interface StepFieldProps {
  readonly label: 'from' | 'to'
  readonly value: number
  readonly last: number
  readonly onChange: (step: number) => void
}

const StepField = ({ label, value, last, onChange }: StepFieldProps) => (
  <NumberField
    label={label}
    value={value}
    min={0}
    max={last}
    digits={Math.max(3, String(last).length + 1)}
    testId={`events-${label}`}
    onChange={(typed) => {
      if (Number.isInteger(typed) && typed >= 0) onChange(typed)
    }}
  />
)

/** How many lie where in the run: a lane a severity, a bar a part of the steps. Dragging leaves only some steps. */
export const DensityStrip = ({ density, filter, onRange }: Props) => {
  const step = useSelection((s) => s.step)
  const [hover, setHover] = useState<number | null>(null)
  const [dragged, setDragged] = useState<{ from: number; to: number } | null>(null)
  const parts = density.error.length
  if (parts === 0) return <div className="events-density" />
  const partAt = (event: React.PointerEvent<SVGSVGElement>): number => {
    const box = event.currentTarget.getBoundingClientRect()
    const part = Math.floor(((event.clientX - box.left) / box.width) * parts)
    return Math.min(parts - 1, Math.max(0, part))
  }
  const most = mostOf(density)
  const last = density.steps - 1
  const shown =
    dragged === null
      ? filter.fromStep === null && filter.toStep === null
        ? null
        : { from: filter.fromStep ?? 0, to: filter.toStep ?? last }
      : stepsOfParts(density, dragged.from, dragged.to)
  const x = (at: number): number => at / density.perBucket
  return (
    <section className="events-density" aria-label="Density over the steps">
      <div className="events-density-head">
        <h3>Over the steps</h3>
        <StepField
          label="from"
          value={filter.fromStep ?? 0}
          last={last}
          onChange={(step) => onRange(step, filter.toStep)}
        />
        <StepField
          label="to"
          value={filter.toStep ?? last}
          last={last}
          onChange={(step) => onRange(filter.fromStep, step)}
        />
        <span className="events-note" data-testid="events-density-text">
          {hover === null ? densityText(density) : partText(density, hover)}
        </span>
        {shown === null ? (
          <span className="events-note events-hint">drag over it to keep some steps</span>
        ) : null}
      </div>
      <div className="events-density-body">
        <div className="events-density-lanes" aria-hidden="true">
          {LANES.map((lane) => (
            <span key={lane}>{lane}</span>
          ))}
        </div>
        <svg
          role="img"
          aria-label={`Over the steps: ${densityText(density)}. Group by step for the numbers.`}
          data-testid="events-density"
          viewBox={`0 0 ${parts} ${HEIGHT}`}
          preserveAspectRatio="none"
          onPointerDown={(event) => {
            if (event.button !== 0) return
            event.currentTarget.setPointerCapture(event.pointerId)
            const part = partAt(event)
            setDragged({ from: part, to: part })
          }}
          onPointerMove={(event) => {
            const part = partAt(event)
            setHover(part)
            setDragged((range) => (range === null ? null : { ...range, to: part }))
          }}
          onPointerUp={() => {
            if (dragged === null) return
            const { from, to } = stepsOfParts(density, dragged.from, dragged.to)
            setDragged(null)
            onRange(from, to)
          }}
          onPointerCancel={() => setDragged(null)}
          onPointerLeave={() => setHover(null)}
        >
          {LANES.map((lane, i) => (
            <g key={lane} className={`events-bar-${lane}`}>
              <rect className="events-lane" x={0} y={i * (LANE + GAP)} width={parts} height={LANE} />
              <path d={barsPath(density[lane], most, i * (LANE + GAP) + LANE)} />
            </g>
          ))}
          {shown === null ? null : (
            <>
              <rect className="events-outside" x={0} y={0} width={x(shown.from)} height={HEIGHT} />
              <rect
                className="events-outside"
                x={Math.min(parts, x(shown.to + 1))}
                y={0}
                width={Math.max(0, parts - x(shown.to + 1))}
                height={HEIGHT}
              />
            </>
          )}
          {step === null ? null : (
            <line
              className="events-step"
              vectorEffect="non-scaling-stroke"
              x1={x(step + 0.5)}
              x2={x(step + 0.5)}
              y1={0}
              y2={HEIGHT}
            />
          )}
        </svg>
        <div className="events-density-steps num" aria-hidden="true">
          <span>0</span>
          <span>step</span>
          <span>{formatInt(last)}</span>
        </div>
      </div>
    </section>
  )
}
