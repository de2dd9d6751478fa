import type { DuckDBConnection } from '@duckdb/node-api'
import type { StoreParams, StoreResult } from '../../app/protocol/store.ts'
import type { Note } from '../../app/trace/notes.ts'
import { numberOf, type PlainRow, plainRows, sqlText, textOf } from './duck.ts'
import { readNotes } from './notes-file.ts'
import { StoreProblem } from './problem.ts'
import { relation } from './sources.ts'

type Params = Omit<StoreParams<'find'>, 'run'>

/** Conditions on columns of the same name, for the places that are given. */
const at = (params: Params, names: readonly ('step' | 'layer' | 'rank' | 'request')[]): string[] =>
  names.flatMap((name) => (params[name] === null ? [] : [`${name} = ${params[name]}`]))

const where = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`

const nullable = (row: PlainRow, name: string): number | null =>
  row[name] === null ? null : numberOf(row, name)

const spans = async (
  connection: DuckDBConnection,
  bundle: string,
  params: Params,
): Promise<StoreResult<'find'>['spans']> => {
  if (params.stages.length === 0) return []
  const wanted = [
    `stage IN (${params.stages.map(sqlText).join(', ')})`,
    ...at(params, ['step', 'layer', 'rank']),
  ]
  const rows = await plainRows(
    connection,
    `SELECT rank, step, layer, stage, start_ns, dur_ns, provenance FROM ${relation(bundle, 'spans')} ${where(wanted)}
     ORDER BY dur_ns DESC, start_ns, rank LIMIT ${params.limit}`,
  )
  return rows.map((row) => ({
    rank: numberOf(row, 'rank'),
    step: numberOf(row, 'step'),
    layer: numberOf(row, 'layer'),
    stage: textOf(row, 'stage'),
    startNs: numberOf(row, 'start_ns'),
    durNs: numberOf(row, 'dur_ns'),
    provenance: textOf(row, 'provenance'),
  }))
}

const pages = async (
  connection: DuckDBConnection,
  bundle: string,
  params: Params,
): Promise<StoreResult<'find'>['pages']> => {
  if (params.page === null) return []
  const wanted = [`page = ${params.page}`, ...at(params, ['request'])]
  if (params.step !== null) wanted.push(`step <= ${params.step}`)
  const rows = await plainRows(
    connection,
    `SELECT request, "column", min(step) AS step FROM ${relation(bundle, 'pages')} ${where(wanted)}
     GROUP BY request, "column" ORDER BY step, request, "column" LIMIT ${params.limit}`,
  )
  return rows.map((row) => ({
    request: numberOf(row, 'request'),
    column: numberOf(row, 'column'),
    step: numberOf(row, 'step'),
  }))
}

const events = async (
  connection: DuckDBConnection,
  bundle: string,
  params: Params,
): Promise<StoreResult<'find'>['events']> => {
  if (params.words.length === 0) return []
  // `events` finds all of them.
  const text = `lower('events ' || severity || ' ' || kind || ' ' || message)`
  const wanted = [
    ...params.words.map((word) => `contains(${text}, ${sqlText(word.toLowerCase())})`),
    ...at(params, ['step', 'layer', 'rank', 'request']),
  ]
  const rows = await plainRows(
    connection,
    `SELECT step, layer, rank, request, time_ns, kind, severity, message FROM ${relation(bundle, 'events')}
     ${where(wanted)} ORDER BY time_ns LIMIT ${params.limit}`,
  )
  return rows.map((row) => ({
    step: numberOf(row, 'step'),
    layer: numberOf(row, 'layer'),
    rank: nullable(row, 'rank'),
    request: nullable(row, 'request'),
    timeNs: numberOf(row, 'time_ns'),
    kind: textOf(row, 'kind'),
    severity: textOf(row, 'severity'),
    message: textOf(row, 'message'),
  }))
}

/** Notes that cannot be read are told of where they are shown; a search goes on without them. */
const notes = (bundle: string, params: Params): Note[] => {
  if (params.words.length === 0) return []
  const isAt = (note: Note): boolean =>
    (['step', 'layer', 'rank'] as const).every(
      (place) => params[place] === null || params[place] === note[place],
    )
  const fits = ({ text, stage }: Note): boolean => {
    const said = `notes ${stage} ${text}`.toLowerCase()
    return params.words.every((word) => said.includes(word.toLowerCase()))
  }
  return readableNotes(bundle)
    .filter((note) => params.request === null && isAt(note) && fits(note))
    .slice(0, params.limit)
}

const readableNotes = (bundle: string): readonly Note[] => {
  try {
    return readNotes(bundle)
  } catch (error) {
    if (error instanceof StoreProblem) return []
    throw error
  }
}

/** What of a run fits; see `find` in app/protocol/store.ts. Ends early when nobody waits for it any more. */
export const find = async (
  connection: DuckDBConnection,
  bundle: string,
  params: Params,
  signal?: AbortSignal,
): Promise<StoreResult<'find'>> => {
  const interrupt = (): void => connection.interrupt()
  signal?.addEventListener('abort', interrupt)
  try {
    const foundSpans = await spans(connection, bundle, params)
    signal?.throwIfAborted()
    const foundPages = await pages(connection, bundle, params)
    signal?.throwIfAborted()
    return {
      spans: foundSpans,
      pages: foundPages,
      events: await events(connection, bundle, params),
      notes: notes(bundle, params),
    }
  } finally {
    signal?.removeEventListener('abort', interrupt)
  }
}
