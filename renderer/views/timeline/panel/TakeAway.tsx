import { csv } from '../../../../app/messages/csv.ts'
import { CopyButton } from '../../../shell/CopyButton.tsx'
import { ImportIcon } from '../../../shell/icons.tsx'
import { useSession } from '../../../state/session.ts'
import type { tableOf } from './sort.ts'

interface Props {
  /** What the table is of: the name of the file and of the buttons. */
  readonly what: string
  readonly run: string
  readonly table: () => ReturnType<typeof tableOf>
}

/** Copies a table, and saves it as CSV. */
export const TakeAway = ({ what, run, table }: Props) => {
  const text = (): string => {
    const { header, rows } = table()
    return [header, ...rows].map((row) => row.map((cell) => cell ?? '').join('\t')).join('\n')
  }
  const save = (): void => {
    const { header, rows } = table()
    const name = `${`${run} ${what}`.replace(/[^\w. -]+/g, '-').replace(/^\W+/, '')}.csv`.slice(-120)
    void useSession.getState().saveText(name, csv(header, rows))
  }
  return (
    <>
      <CopyButton text={text} what={`the table: ${what}`} />
      <button
        type="button"
        className="button button-quiet"
        title={`Save as a file: ${what}`}
        data-testid="timeline-csv"
        onClick={save}
      >
        <ImportIcon /> CSV
      </button>
    </>
  )
}
