import '../../controls/controls.css'
import './ownership.css'
import { memo, useMemo } from 'react'
import { Lights } from '../../controls/Lights.tsx'
import { NothingOfSweep } from '../../controls/NothingOfSweep.tsx'
import { useCalculator } from '../../state/calculator.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { Beside, besideSource } from './Beside.tsx'
import { copiesOf, extentOfCopies, NO_COPIES } from './copies.ts'
import { checksOf, firstBeside } from './coverage.ts'
import { extentOf } from './geometry.ts'
import { Lengths } from './Lengths.tsx'
import { OwnershipCanvas } from './OwnershipCanvas.tsx'
import { PictureChoice } from './PictureChoice.tsx'
import { RingCanvas } from './RingCanvas.tsx'
import { sourceText } from './source.ts'
import { Toolbar } from './Toolbar.tsx'
import { useOwnershipInspector } from './use-inspector.ts'
import { useRing } from './use-ring.ts'
import { type Shown, useShown } from './use-source.ts'
import { useViewport } from './use-viewport.ts'

/**
 * Which rank holds which token of one request, where it lies there, and how long each rank's part is. Shows the
 * open run, or a calculator when there is none.
 */
export const OwnershipView = () => <Ownership shown={useShown()} />

/** Drawn anew where what is shown has changed, which it has not yet when another step is selected. */
const Ownership = memo(({ shown }: { readonly shown: Shown }) => {
  const layout = shown.source.ok ? shown.source.layout : null
  const token = useSelection((s) => s.token)
  const { picture, source, setSource, beside, setBeside } = useCalculator()
  const { written, pages } = shown
  const copies = useMemo(
    () => (layout === null ? NO_COPIES : copiesOf(written, layout, pages)),
    [written, layout, pages],
  )
  const other = layout === null || beside === null ? null : besideSource(layout, beside)
  const viewport = useViewport(
    layout === null
      ? 0
      : Math.max(
          extentOf(layout.len, layout),
          extentOfCopies(copies, layout),
          other?.ok === true ? extentOf(other.layout.len, other.layout) : 0,
        ),
  )
  const ring = useRing(token)
  const isSweep = useSession((s) => s.openRun?.manifest.sweep !== undefined)
  const nothing = isSweep && source === 'run'
  useOwnershipInspector(nothing ? null : layout, shown, copies, token)
  if (nothing)
    return (
      <NothingOfSweep lacks="no tokens">
        <button
          type="button"
          className="button"
          data-testid="ownership-of-sweep"
          onClick={() => setSource('calculator')}
        >
          Calculate a layout
        </button>
      </NothingOfSweep>
    )
  return (
    <section className="ownership" aria-label="Ownership">
      <Toolbar shown={shown} control={picture === 'ring' ? ring : viewport} reveal={viewport.reveal} />
      {shown.error === null ? null : (
        <p className="ownership-error" role="alert">
          {shown.error}
        </p>
      )}
      {layout === null ? (
        <div className="empty-state" role="alert" data-testid="ownership-invalid">
          <p>{shown.source.ok ? '' : sourceText(shown.source.issues)}</p>
          <p>Correct the marked field to see the layout.</p>
        </div>
      ) : (
        <>
          <Lights
            checks={checksOf(layout, shown)}
            label="What must hold of this request"
            testId="ownership-light"
            leads={({ token: at }) => at !== null}
            onShow={({ token: at, rank }) => {
              useSelection.getState().select({ token: at, rank })
              if (at !== null) viewport.reveal(at, true)
            }}
          >
            <PictureChoice />
            <button
              type="button"
              className="button"
              aria-pressed={beside !== null}
              title="Deal the same tokens out by another interleave or dcp size, below"
              data-testid="ownership-beside"
              onClick={() => setBeside(beside === null ? firstBeside(layout) : null)}
            >
              Another rule beside it
            </button>
          </Lights>
          <div className="ownership-body">
            <div className={`ownership-pictures ownership-pictures-${picture}`}>
              {picture === 'ring' ? (
                <RingCanvas
                  layout={layout}
                  pages={shown.pages}
                  hasTable={shown.run !== null || shown.dump !== null}
                  control={ring}
                />
              ) : (
                <OwnershipCanvas
                  layout={layout}
                  pages={shown.pages}
                  hasTable={shown.run !== null || shown.dump !== null}
                  copies={copies}
                  viewport={viewport}
                />
              )}
              {beside === null ? null : <Beside layout={layout} beside={beside} viewport={viewport} />}
            </div>
            <Lengths
              layout={layout}
              recorded={shown.recorded}
              by={shown.dump === null ? 'the engine' : 'the dump'}
              before={shown.before}
              topk={shown.run?.topk ?? null}
              balance={shown.balance}
            />
          </div>
        </>
      )}
    </section>
  )
})
