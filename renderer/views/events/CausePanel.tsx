import { causeText } from '../../../app/events/text.ts'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { measuredLayers } from '../../../app/run/shape.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { useDump } from '../../state/dump.ts'
import { type Selection, useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useView } from '../../state/view.ts'
import { type FirstCause, gridText, layerGrid, placeOfCause, stepGrid, totalsText } from './grid.ts'
import { Jumps } from './Jumps.tsx'
import { SpreadPicture } from './SpreadPicture.tsx'

const TITLES: Readonly<Record<FirstCause['cause']['kind'], string>> = {
  none: 'Nothing bad',
  harmless: 'Nothing bad in merged rows',
  partial: 'First cause: a partial',
  merge: 'First cause: the merge',
  finite: 'First wrong row',
}

/** What the picture of the layers cannot show. */
const MERGED_NOTE =
  'Of merged rows events name the first NaN and the worst error of a step: other layers can be bad too.'

/** The place of the first cause as it is selected; null where there is none. */
export const selectionOfCause = (found: FirstCause): Partial<Selection> | null => {
  const place = placeOfCause(found)
  if (place === null) return null
  const { step, layer, request, qIndex, rank, ranks } = place
  return { step, layer, request, qIndex, rank: ranks[0] ?? rank, timeNs: null }
}

/** Kind of event that the place of the cause is about, for the span of it. */
export const kindOfCause = ({ cause }: FirstCause): string =>
  cause.kind === 'merge' || cause.kind === 'finite' ? cause.merged.kind : 'nan_in_partial'

/** Offers the tensors of the place, or a run that keeps them. */
const Tensors = ({ run, place }: { readonly run: RunInfo; readonly place: Partial<Selection> }) => {
  const busy = useSession((s) => s.desktop?.activeRun != null)
  const rerun = useSession((s) => s.rerunWithCapture)
  const show = useView((s) => s.show)
  const { step, layer } = place
  if (step == null || layer == null) return null
  const captured = run.captures.some((one) => one.step === step && one.layer === layer)
  return (
    <>
      {captured ? null : (
        <button
          type="button"
          className="button"
          disabled={busy}
          data-testid="cause-capture"
          title={`Run the same configuration again and keep the tensors of step ${step}, layer ${layer}`}
          onClick={() => void rerun(step, layer)}
        >
          Run again with capture
        </button>
      )}
      {run.captures.length === 0 ? null : (
        <button
          type="button"
          className="button"
          data-testid="cause-diagnose"
          title="Look for the cause in the tensors that were captured"
          onClick={() => {
            useDump.getState().show(null)
            useDump.getState().look('findings')
            show('postmortem')
          }}
        >
          Diagnose
        </button>
      )}
    </>
  )
}

interface Props {
  readonly run: RunInfo
  readonly found: FirstCause
}

/** Where bad values began, how they spread, and the ways on. */
export const CausePanel = ({ run, found }: Props) => {
  const { cause } = found
  const place = selectionOfCause(found)
  const [headline, ...more] = causeText(cause)
  const ranks = run.ranks
  const layers = layerGrid(found, ranks, measuredLayers(run.manifest.config))
  const steps = stepGrid(found, ranks)
  const select = (parts: Partial<Selection>): void =>
    useSelection.getState().select({ ...parts, timeNs: null })
  const lines = [...gridText(layers).map((line) => `step ${found.layers.step}, ${line}`), ...gridText(steps)]
  const named = 'merged' in cause ? [MERGED_NOTE] : []
  const tone = cause.kind === 'none' || cause.kind === 'harmless' ? 'ok' : 'bad'
  return (
    <section
      className={`cause cause-${tone}`}
      aria-label="First cause"
      data-testid="cause"
      data-kind={cause.kind}
    >
      <div className="cause-text">
        <h3>
          {TITLES[cause.kind]}
          <CopyButton
            text={[headline, ...more, totalsText(found), ...lines].join('\n')}
            what="the first cause"
            testId="cause-copy"
          />
        </h3>
        <p className="cause-headline selectable" data-testid="cause-headline">
          {headline}
        </p>
        {more.map((sentence) => (
          <p key={sentence} className="selectable">
            {sentence}
          </p>
        ))}
        {cause.kind === 'none' ? null : <p className="quiet selectable">{totalsText(found)}</p>}
        {place === null ? null : (
          <div className="cause-ways">
            <button
              type="button"
              className="button"
              data-testid="cause-select"
              title="Select the place of the first cause in all views (F)"
              onClick={() => useSelection.getState().select(place)}
            >
              Select
            </button>
            <Jumps run={run.id} kind={kindOfCause(found)} place={place} testId="cause" />
            {tone === 'bad' ? <Tensors run={run} place={place} /> : null}
          </div>
        )}
      </div>
      {cause.kind === 'none' ? null : (
        <div className="cause-pictures">
          <SpreadPicture
            title={`Layers of step ${found.layers.step}`}
            note={MERGED_NOTE}
            grid={layers}
            testId="spread-layers"
            onPick={(layer, rank) => select({ step: found.layers.step, layer, rank })}
          />
          <SpreadPicture
            title="Steps of the run, all layers"
            grid={steps}
            testId="spread-steps"
            onPick={(part, rank) => select({ step: part * found.steps.perBucket, rank })}
          />
        </div>
      )}
      {lines.length === 0 ? null : (
        <details className="cause-lines">
          <summary>as text</summary>
          <ul className="selectable" data-testid="cause-lines">
            {[...lines, ...named].map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}
