import { useState } from 'react'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useView } from '../../state/view.ts'
import { type CaptureKey, willCapture } from './choice.ts'

export const NoRun = () => {
  const show = useView((s) => s.show)
  const hasDumps = useSession((s) => (s.desktop?.dumps.length ?? 0) > 0)
  return (
    <div className="empty-state" data-testid="merge-no-run">
      <p>No run is open. A run keeps the partials of its captured steps; the merge is looked at here.</p>
      {hasDumps ? <p data-testid="merge-dumps">{OF_DUMPS}</p> : null}
      <button type="button" className="button button-primary" onClick={() => show('run')}>
        Go to Run
      </button>
      {hasDumps ? (
        <button type="button" className="button" onClick={() => show('postmortem')}>
          Go to Post-mortem
        </button>
      ) : null}
    </div>
  )
}

/** Where the merge of a dump is, which has no run. */
export const OF_DUMPS =
  'Of dumps the merge is checked under Findings of Post-mortem; out, lse and merged of every rank stand under Tensors there.'

interface Props {
  readonly run: RunInfo
  readonly choice: { readonly wanted: CaptureKey; readonly nearest: CaptureKey | null }
}

/** Offers to run the same configuration again with the tensors of the wanted step. */
export const MissingCapture = ({ run, choice }: Props) => {
  const { wanted, nearest } = choice
  const busy = useSession((s) => s.desktop?.activeRun != null)
  const rerun = useSession((s) => s.rerunWithCapture)
  const select = useSelection((s) => s.select)
  const [refusal, setRefusal] = useState<string | null>(null)
  const { status, config } = run.manifest
  const coming = status === 'running' && willCapture(config, wanted)
  const again = async (): Promise<void> => {
    // Opening the new run clears the selection; the same place in it is still wanted, but times are of the old run.
    const { rank, request, qIndex, head, token } = useSelection.getState()
    const result = await rerun(wanted.step, wanted.layer)
    if (result.ok) select({ ...wanted, rank, request, qIndex, head, token })
    setRefusal(result.ok ? null : result.message)
  }
  if (coming)
    return (
      <div className="empty-state" data-testid="merge-coming" aria-live="polite">
        <p>
          Step {wanted.step}, layer {wanted.layer} is captured when the run gets there: {run.steps} of{' '}
          {config.workload.steps} steps are done.
        </p>
        <NearestButton nearest={nearest} />
      </div>
    )
  return (
    <div className="empty-state" data-testid="merge-missing">
      <p>
        Step {wanted.step}, layer {wanted.layer} was not captured.
      </p>
      <button
        type="button"
        className="button button-primary"
        disabled={busy}
        data-testid="merge-rerun"
        onClick={() => void again()}
      >
        Run again with capture of step {wanted.step}, layer {wanted.layer}
      </button>
      {busy ? <p>A run is in progress; stop it or wait for its end.</p> : null}
      {refusal === null ? null : <p role="alert">{refusal}</p>}
      <NearestButton nearest={nearest} />
    </div>
  )
}

const NearestButton = ({ nearest }: { readonly nearest: CaptureKey | null }) => {
  const select = useSelection((s) => s.select)
  if (nearest === null) return null
  return (
    <button
      type="button"
      className="button"
      data-testid="merge-nearest"
      onClick={() => select({ step: nearest.step, layer: nearest.layer })}
    >
      Show captured step {nearest.step}, layer {nearest.layer}
    </button>
  )
}
