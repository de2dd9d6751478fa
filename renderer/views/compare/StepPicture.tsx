import { useState } from 'react'
import { measureWord } from '../../../app/compare/text.ts'
import type { Measure } from '../../../app/compare/times.ts'
import { formatInt } from '../../drawing/format.ts'
import { useTableSource } from '../../export/table-source.ts'
import { useSelection } from '../../state/selection.ts'
import { useStepTable } from './look.ts'
import { barOfStep, type StepBars, stepBars, type Times, usText } from './model.ts'

interface Props {
  readonly times: Times
  readonly measure: Measure
}

const HEIGHT = 100

/** The difference of the picked stage over the steps, as bars around zero or as a table. */
export const StepPicture = ({ times, measure }: Props) => {
  const asTable = useStepTable((s) => s.asTable)
  const toggle = useStepTable((s) => s.toggle)
  const bars = stepBars(times, measure)
  return (
    <figure className="compare-steps">
      <figcaption>
        <span>B minus A of {measureWord(measure)} over the steps</span>
        <button
          type="button"
          className="button button-quiet"
          title="As a table or as a picture (T)"
          aria-pressed={asTable}
          data-testid="compare-steps-table"
          onClick={toggle}
        >
          Table
        </button>
      </figcaption>
      {bars === null ? (
        <p className="compare-note">Only one of both has {measureWord(measure)}.</p>
      ) : asTable ? (
        <StepTable bars={bars} perPart={times.perPart} />
      ) : (
        <Bars bars={bars} times={times} measure={measure} />
      )}
    </figure>
  )
}

const partText = (step: number, perPart: number): string =>
  perPart === 1 ? `step ${formatInt(step)}` : `steps ${formatInt(step)} to ${formatInt(step + perPart - 1)}`

const Bars = ({ bars: { bars, reachNs }, times, measure }: Props & { readonly bars: StepBars }) => {
  const selected = useSelection((s) => s.step)
  const select = useSelection((s) => s.select)
  const [hovered, setHovered] = useState<number | null>(null)
  const marked = barOfStep({ bars, reachNs }, selected, times.perPart)
  const at = hovered ?? marked
  const bar = at === null ? undefined : bars[at]
  const cut = bars.filter(({ isCut }) => isCut).length
  const indexAt = (event: React.PointerEvent | React.MouseEvent): number => {
    const box = event.currentTarget.getBoundingClientRect()
    const share = (event.clientX - box.left) / box.width
    return Math.max(0, Math.min(bars.length - 1, Math.floor(share * bars.length)))
  }
  return (
    <>
      <div className="compare-plot">
        <div className="compare-axis num" aria-hidden="true">
          <span>+{usText(reachNs)}</span>
          <span>0</span>
          <span>−{usText(reachNs)}</span>
        </div>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the arrow keys of the view select steps */}
        <svg
          role="img"
          aria-label={`B minus A of ${measureWord(measure)} over ${bars.length} ${times.perPart === 1 ? 'steps' : 'parts of the steps'}; the table has the numbers`}
          viewBox={`0 0 ${bars.length} ${2 * HEIGHT}`}
          preserveAspectRatio="none"
          data-testid="compare-steps-picture"
          onPointerMove={(event) => setHovered(indexAt(event))}
          onPointerLeave={() => setHovered(null)}
          onClick={(event) => select({ step: bars[indexAt(event)]?.step ?? null })}
        >
          {marked === null ? null : (
            <rect className="compare-marked" x={marked} y={0} width={1} height={2 * HEIGHT} />
          )}
          {bars.map(({ step, height, isCut }, i) => (
            <rect
              key={step}
              className={isCut ? 'compare-step compare-step-cut' : 'compare-step'}
              x={i + 0.1}
              y={height > 0 ? HEIGHT * (1 - height) : HEIGHT}
              width={0.8}
              height={HEIGHT * Math.abs(height)}
            />
          ))}
          <line className="compare-zero" x1={0} x2={bars.length} y1={HEIGHT} y2={HEIGHT} />
        </svg>
      </div>
      <p className="compare-note compare-step-note" data-testid="compare-step-note">
        {bar === undefined
          ? `Above the line B took longer. Point at a step, or click it to select it${cut === 0 ? '.' : `; ${cut} cut off.`}`
          : `${partText(bar.step, times.perPart)}: A ${usText(bar.aNs)}, B ${usText(bar.bNs)}, ${bar.ns > 0 ? '+' : ''}${usText(bar.ns)}${bar.isCut ? ' (cut off)' : ''}`}
      </p>
    </>
  )
}

const StepTable = ({ bars: { bars }, perPart }: { readonly bars: StepBars; readonly perPart: number }) => {
  const selected = useSelection((s) => s.step)
  const select = useSelection((s) => s.select)
  const table = useTableSource('Steps compared', () => ({
    header: [perPart === 1 ? 'step' : `first_of_${perPart}_steps`, 'a_ns', 'b_ns', 'difference_ns'],
    rows: bars.map(({ step, aNs, bNs, ns }) => [step, aNs, bNs, ns]),
  }))
  return (
    <div className="compare-scroll">
      <table ref={table} className="compare-table" data-testid="compare-steps">
        <thead>
          <tr>
            <th scope="col">{perPart === 1 ? 'step' : 'steps'}</th>
            <th scope="col" className="num">
              A
            </th>
            <th scope="col" className="num">
              B
            </th>
            <th scope="col" className="num">
              difference
            </th>
          </tr>
        </thead>
        <tbody>
          {bars.map(({ step, aNs, bNs, ns }) => (
            <tr key={step} className={step === selected ? 'rank-row rank-row-selected' : 'rank-row'}>
              <th scope="row">
                <button
                  type="button"
                  className="compare-pick num"
                  aria-pressed={step === selected}
                  onClick={() => select({ step })}
                >
                  {partText(step, perPart)}
                </button>
              </th>
              <td className="num">{usText(aNs)}</td>
              <td className="num">{usText(bNs)}</td>
              <td className="num">
                {ns > 0 ? '+' : ''}
                {usText(ns)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
