import type { Manifest } from '../../../app/trace/manifest.ts'
import { formatInt } from '../../drawing/format.ts'
import { PauseIcon, PlayIcon, PlusIcon } from '../../shell/icons.tsx'
import { useSession } from '../../state/session.ts'
import { resumeSweep, showSweepForm } from '../../state/sweep-actions.ts'
import { type MeasureAction, measureState } from './measure-state.ts'
import type { Progress } from './model.ts'

interface Props {
  readonly run: string
  /** null before there is a bundle. */
  readonly manifest: Manifest | null
  readonly progress: Progress | null
}

const ActionButton = ({ run, action }: { readonly run: string; readonly action: MeasureAction }) => {
  const pauseSweep = useSession((s) => s.pauseSweep)
  const pauses = action.kind === 'pause'
  return (
    <button
      type="button"
      className={pauses ? 'button' : 'button button-primary'}
      data-testid={pauses ? 'sweep-pause' : 'sweep-resume'}
      disabled={action.barred !== null}
      title={
        action.barred ??
        (pauses
          ? 'End the measuring; what was measured is kept, and Resume goes on (Space)'
          : 'Measure what is left, and again what failed (Space)')
      }
      onClick={() => void (pauses ? pauseSweep() : resumeSweep(run))}
    >
      {pauses ? <PauseIcon /> : <PlayIcon />} {pauses ? 'Pause' : 'Resume'}
    </button>
  )
}

/** How far the measuring of the sweep is, and what can be done about it. Always there, so that nothing moves when it ends. */
export const MeasureBar = ({ run, manifest, progress }: Props) => {
  const desktop = useSession((s) => s.desktop)
  const { word, tone, done, total, words, action } = measureState(run, manifest, desktop, progress)
  return (
    <div className="toolbar measure-bar" role="toolbar" aria-label="Measuring">
      <span className={`badge badge-${tone}`} data-testid="measure-word">
        {word}
      </span>
      <progress
        className="measure-progress"
        aria-label="Points measured"
        max={Math.max(1, total)}
        value={done}
      />
      <span className="num measure-count" data-testid="measure-count">
        {formatInt(done)} of {formatInt(total)} points
      </span>
      <span className="measure-words" data-testid="measure-words" title={words.join(', ')}>
        {words.map((text) => (
          <span key={text} className="num">
            {text}
          </span>
        ))}
      </span>
      <span className="measure-actions">
        {action === null ? null : <ActionButton run={run} action={action} />}
        <button
          type="button"
          className="button"
          title="Set up a new sweep (Ctrl+Shift+N)"
          data-testid="sweep-new"
          onClick={showSweepForm}
        >
          <PlusIcon /> New sweep
        </button>
      </span>
    </div>
  )
}
