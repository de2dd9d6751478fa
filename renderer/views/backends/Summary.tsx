import { VERDICT_WORDS } from '../../../app/backends/words.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { PlayIcon } from '../../shell/icons.tsx'
import { cellText, type Picked, reasonText } from './model.ts'

interface Props {
  readonly picked: Picked
  /** Puts the picked configuration into the form of Run; undefined where there is none. */
  readonly onTake: (() => void) | undefined
}

/** The picked cell in a sentence, and what can be done with its configuration. */
export const Summary = ({ picked: { line, column, cell }, onTake }: Props) => {
  if (line === null || column === null || cell === null)
    return (
      <p className="backends-summary quiet" data-testid="backends-summary">
        Pick a cell: its rule, reason and source stand in the inspector.
      </p>
    )
  const first = cell.kind === 'verdict' ? cell.checked.reasons[0] : undefined
  const said =
    cell.kind === 'verdict'
      ? VERDICT_WORDS[cell.checked.verdict]
      : cell.kind === 'fact'
        ? cell.long
        : cell.why
  return (
    <div className="backends-summary" data-testid="backends-summary">
      <p className="selectable" title={first === undefined ? cellText(cell) : reasonText(first)}>
        <b>{column.name}</b>, {line.title}: {said}
        {first === undefined ? '' : ` (${first.rule}). ${first.message}`}
      </p>
      {cell.kind === 'verdict' && cell.config !== null ? (
        <span className="backends-actions">
          <CopyButton
            text={JSON.stringify(cell.config, null, 2)}
            what="the configuration (C)"
            testId="copy-config"
          />
          <button
            type="button"
            className="button"
            title="Put this configuration into the form of Run (T)"
            data-testid="take-config"
            disabled={onTake === undefined}
            onClick={onTake}
          >
            <PlayIcon /> Take to Run
          </button>
        </span>
      ) : null}
    </div>
  )
}
