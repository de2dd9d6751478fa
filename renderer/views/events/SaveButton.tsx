import { useState } from 'react'
import { csv } from '../../../app/messages/csv.ts'
import { type EventFilter, MAX_EVENT_ROWS, type RunInfo } from '../../../app/protocol/store.ts'
import { formatInt } from '../../drawing/format.ts'
import { ImportIcon } from '../../shell/icons.tsx'
import { tell } from '../../state/messages.ts'
import { useSession } from '../../state/session.ts'
import { request } from '../../state/store-client.ts'
import type { EventRow } from './model.ts'
import { eventTable, fileName, type Table } from './table-text.ts'

/** Events that one file has at most: a query of the command line has no such limit. */
const MOST = 100_000

/** All events of the open group, page by page. */
const allRows = async (run: string, filter: EventFilter): Promise<EventRow[]> => {
  const rows: EventRow[] = []
  while (rows.length < MOST) {
    const page = await request('eventRows', { run, filter, from: rows.length, max: MAX_EVENT_ROWS })
    rows.push(...page)
    if (page.length < MAX_EVENT_ROWS) break
  }
  return rows
}

interface Props {
  readonly run: RunInfo
  /** The groups, where none is open. */
  readonly groups: Table
  /** The events of the open group, and how many there are. */
  readonly open: { readonly filter: EventFilter; readonly word: string; readonly count: number } | null
  readonly level: string
}

/** Saves what is listed as CSV: the groups, or all events of the open one. */
export const SaveButton = ({ run, groups, open, level }: Props) => {
  const [busy, setBusy] = useState(false)
  const save = async (): Promise<void> => {
    const table = open === null ? groups : eventTable(await allRows(run.id, open.filter))
    if (open !== null && table.rows.length < open.count)
      tell(
        'warning',
        `The first ${formatInt(table.rows.length)} of ${formatInt(open.count)} are saved; filter, or query the bundle, for others.`,
      )
    const name = fileName(run.manifest.name, level, open === null ? 'groups' : open.word)
    await useSession.getState().saveText(name, csv(table.header, table.rows))
  }
  return (
    <button
      type="button"
      className="button button-quiet"
      disabled={busy}
      title={open === null ? 'Save the groups as a file' : 'Save all events of the open group as a file'}
      data-testid="events-csv"
      onClick={() => {
        setBusy(true)
        save()
          .catch((error: unknown) =>
            tell('error', `Nothing was saved: ${error instanceof Error ? error.message : String(error)}`),
          )
          .finally(() => setBusy(false))
      }}
    >
      <ImportIcon /> CSV
    </button>
  )
}
