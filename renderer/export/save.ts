import { create } from 'zustand'
import { csv, type Table, tabText } from '../../app/messages/csv.ts'
import { placedSource } from '../drawing/provenance.ts'
import { tell } from '../state/messages.ts'
import { useSession } from '../state/session.ts'
import { useView, type ViewId } from '../state/view.ts'
import { fileName } from './file-name.ts'
import { type Caption, pngOf, svgOf } from './picture.ts'
import type { TableSource } from './table-source.ts'

export interface PictureSource {
  readonly name: string
  readonly element: HTMLCanvasElement | SVGSVGElement
}

export type PictureFormat = 'svg' | 'png'
/** `text`: lines with tabs, on the clipboard. */
export type TableFormat = 'csv' | 'text'

interface TableWork {
  /** The table that is being read, and how far that is; null where none is. */
  readonly reading: { readonly name: string; readonly done: number; readonly total: number } | null
  readonly cancel: () => void
}

let now: AbortController | null = null

/** The one table that is being read for a file. */
export const useTableWork = create<TableWork>(() => ({ reading: null, cancel: () => now?.abort() }))

/** Views that show something else than the open run. */
const OF_NO_RUN: readonly ViewId[] = ['backends', 'scenarios', 'postmortem']

const shownRun = () =>
  OF_NO_RUN.includes(useView.getState().view) ? undefined : useSession.getState().openRun?.manifest

/** What stood around a picture in the window and goes along with it. */
const captionOf = (title: string): Caption => {
  const manifest = shownRun()
  const placed = manifest === undefined ? undefined : placedSource(manifest)
  const words = ['dcpscope', manifest?.name, placed === undefined ? undefined : `times ${placed}`]
  return { title, source: words.filter((word) => word !== undefined).join(', ') }
}

const nameFor = (name: string, extension: string): string =>
  fileName(`${shownRun()?.name ?? 'dcpscope'} ${name}`, extension)

/** Says why something was not saved. What main refuses was told by the session. */
const orTell = async (name: string, save: () => Promise<unknown>): Promise<void> => {
  try {
    await save()
  } catch (error) {
    const cancelled = error instanceof DOMException && error.name === 'AbortError'
    const why = cancelled ? 'it was cancelled' : error instanceof Error ? error.message : String(error)
    tell(cancelled ? 'info' : 'error', `${name} was not saved: ${why}.`)
  }
}

/** Saves a picture of the page; asks where to, and says what happened. */
export const savePicture = ({ name, element }: PictureSource, format: PictureFormat): Promise<void> =>
  orTell(name, async () => {
    const picture = svgOf(element, captionOf(name))
    const content = format === 'svg' ? picture.text : await pngOf(picture)
    await useSession.getState().saveFile(nameFor(name, format), content)
  })

const readTable = async ({ name, read }: TableSource): Promise<Table> => {
  now?.abort()
  const own = new AbortController()
  now = own
  const onRows = (done: number, total: number): void => {
    if (now === own) useTableWork.setState({ reading: { name, done, total } })
  }
  try {
    const table = await read({ signal: own.signal, onRows })
    own.signal.throwIfAborted()
    return table
  } finally {
    if (now === own) {
      now = null
      useTableWork.setState({ reading: null })
    }
  }
}

/** Saves or copies all rows that a table stands for; asks where to, and says what happened. */
export const saveTable = (source: TableSource, format: TableFormat): Promise<void> =>
  orTell(source.name, async () => {
    const table = await readTable(source)
    if (format === 'csv') {
      await useSession.getState().saveFile(nameFor(source.name, format), csv(table.header, table.rows))
      return
    }
    await navigator.clipboard.writeText(tabText(table))
    tell('info', `Copied ${source.name}.`)
  })
