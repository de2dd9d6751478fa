import { CopyButton } from '../../../shell/CopyButton.tsx'

interface Props {
  /** A sentence; nothing is shown of an empty one. */
  readonly text: string
  readonly testId?: string
}

/** What a panel says in one sentence, to be copied. */
export const Verdict = ({ text, testId = 'timeline-slowest' }: Props) =>
  text === '' ? null : (
    <span className="panel-verdict">
      <span role="status" className="selectable" data-testid={testId}>
        {text}
      </span>
      <CopyButton text={text} what="what was found" />
    </span>
  )
