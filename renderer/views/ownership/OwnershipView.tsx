import '../../controls/controls.css'
import './ownership.css'
import { NothingOfSweep } from '../../controls/NothingOfSweep.tsx'
import { useCalculator } from '../../state/calculator.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { extentOf } from './geometry.ts'
import { Lengths } from './Lengths.tsx'
import { OwnershipCanvas } from './OwnershipCanvas.tsx'
import { sourceText } from './source.ts'
import { Toolbar } from './Toolbar.tsx'
import { useOwnershipInspector } from './use-inspector.ts'
import { useShown } from './use-source.ts'
import { useViewport } from './use-viewport.ts'

/**
 * Which rank holds which token of one request, where it lies there, and how long each rank's part is. Shows the
 * open run, or a calculator when there is none.
 */
export const OwnershipView = () => {
  const shown = useShown()
  const layout = shown.source.ok ? shown.source.layout : null
  const token = useSelection((s) => s.token)
  const viewport = useViewport(layout === null ? 0 : extentOf(layout.len, layout))
  const isSweep = useSession((s) => s.openRun?.manifest.sweep !== undefined)
  const { followRun, setFollowRun } = useCalculator()
  const nothing = isSweep && followRun
  useOwnershipInspector(nothing ? null : layout, shown, token)
  if (nothing)
    return (
      <NothingOfSweep lacks="no tokens">
        <button
          type="button"
          className="button"
          data-testid="ownership-of-sweep"
          onClick={() => setFollowRun(false)}
        >
          Calculate a layout
        </button>
      </NothingOfSweep>
    )
  return (
    <section className="ownership" aria-label="Ownership">
      <Toolbar shown={shown} viewport={viewport} />
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
        <div className="ownership-body">
          <OwnershipCanvas
            layout={layout}
            pages={shown.pages}
            hasRun={shown.run !== null}
            viewport={viewport}
          />
          <Lengths layout={layout} recorded={shown.recorded} topk={shown.run?.topk ?? null} />
        </div>
      )}
    </section>
  )
}
