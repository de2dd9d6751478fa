import { useEffect, useReducer, useState } from 'react'
import type { PointRow } from '../../../app/sweep/point-rows.ts'
import { useSession } from '../../state/session.ts'
import { request } from '../../state/store-client.ts'
import { client } from '../../state/store-connection.ts'

/** Time between two looks at a sweep that is being written. */
const FOLLOW_MS = 2000
/** Rows of one answer: about a megabyte. */
const PAGE = 2000

export interface Points {
  readonly rows: readonly PointRow[]
  /** Whether the rows were read to their present end once. */
  readonly read: boolean
  readonly error: string | null
  /** Reads everything anew, also what the manifest says. */
  readonly reload: () => void
}

interface Known extends Omit<Points, 'reload'> {
  readonly run: string
}

const nothing = (run: string): Known => ({ run, rows: [], read: false, error: null })

/** The rows behind the first `from`, to the present end. */
const rowsFrom = async (run: string, from: number, wanted: () => boolean): Promise<PointRow[]> => {
  const rows: PointRow[] = []
  for (let more = true; more && wanted(); ) {
    const page = await request('points', { run, from: from + rows.length, max: PAGE })
    rows.push(...page)
    more = page.length === PAGE
  }
  return rows
}

/** All points of a sweep. While it is `live`, they and the manifest are looked at again and again. */
export const usePoints = (run: string, live: boolean): Points => {
  const [connection, setConnection] = useState(client.connections)
  const [asked, again] = useReducer((n: number) => n + 1, 0)
  const [known, setKnown] = useState(nothing(run))
  useEffect(() => client.onConnect(setConnection), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new connection and a wish to reload read anew
  useEffect(() => {
    let wanted = true
    let timer: ReturnType<typeof setTimeout> | undefined
    let rows: readonly PointRow[] = []
    let first = true
    const look = async (): Promise<void> => {
      try {
        const more = await rowsFrom(run, rows.length, () => wanted)
        if (!wanted) return
        if (first || more.length > 0) rows = [...rows, ...more]
        first = false
        setKnown({ run, rows, read: true, error: null })
        if (live) void useSession.getState().openRunById(run)
      } catch (error) {
        const sentence = error instanceof Error ? error.message : String(error)
        if (wanted)
          setKnown((before) => ({ ...(before.run === run ? before : nothing(run)), error: sentence }))
      }
      if (wanted && live) timer = setTimeout(() => void look(), FOLLOW_MS)
    }
    void look()
    return () => {
      wanted = false
      clearTimeout(timer)
    }
  }, [run, live, asked, connection])
  const shown = known.run === run ? known : nothing(run)
  return {
    ...shown,
    reload: () => {
      void useSession.getState().openRunById(run)
      again()
    },
  }
}
