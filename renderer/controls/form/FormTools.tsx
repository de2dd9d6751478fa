import { CopyButton } from '../../shell/CopyButton.tsx'
import { RedoIcon, ResetIcon, UndoIcon } from '../../shell/icons.tsx'
import type { Draft, DraftForm } from '../../state/draft-form.ts'
import { ImportConfig } from './ImportConfig.tsx'

interface Props {
  readonly form: Pick<DraftForm<unknown>, 'draft' | 'past' | 'future' | 'undo' | 'redo' | 'replace'>
  readonly reset: () => void
  /** What reset brings back: `the default run`. */
  readonly first: string
  readonly example: string
  readonly fill: (draft: Draft) => Draft
  readonly testId: string
}

/** The history of a form, and the ways of its configuration as text out and in. */
export const FormTools = ({ form, reset, first, example, fill, testId }: Props) => (
  <span className="form-tools">
    <button
      type="button"
      className="button button-quiet button-icon"
      title="Undo (Ctrl+Z)"
      aria-label="Undo"
      disabled={form.past.length === 0}
      onClick={form.undo}
    >
      <UndoIcon />
    </button>
    <button
      type="button"
      className="button button-quiet button-icon"
      title="Redo (Ctrl+Shift+Z)"
      aria-label="Redo"
      disabled={form.future.length === 0}
      onClick={form.redo}
    >
      <RedoIcon />
    </button>
    <button
      type="button"
      className="button button-quiet button-icon"
      title={`Reset to ${first}`}
      aria-label="Reset"
      onClick={reset}
    >
      <ResetIcon />
    </button>
    <CopyButton text={JSON.stringify(form.draft, null, 2)} what="the configuration as JSON" testId={testId} />
    <ImportConfig example={example} fill={fill} onTake={form.replace} />
  </span>
)
