import { eventKind, eventText } from '../../app/messages/events.ts'
import { MESSAGE_BYTES, type TraceMessage } from '../../app/protocol/engine.ts'
import { PROVENANCES, type Provenance, SEVERITIES, STAGE_FAMILY, STAGES } from '../../app/trace/stages.ts'
import type { ColumnData, TraceChunk } from '../../app/trace/tables.ts'
import type { NativeChunk } from './addon.ts'

/**
 * What it does to times that ranks share a GPU: nothing where they do not, in turn within one process their exchanges are
 * `emulated`, and in processes of their own all times are `time-sliced`.
 */
export type Sharing = 'none' | Extract<Provenance, 'emulated' | 'time-sliced'>

/** What of a run did not happen as it is shown. */
export interface Origin {
  /** Share of the model that was computed: measured layers of layers. */
  readonly measuredLayers: number
  readonly layers: number
  readonly sharing: Sharing
  /** Ranks merge right from what their peers have: with `p2p` the merge is the exchange. */
  readonly mergesPeers?: boolean
  /** Why kernels that were asked for are not recorded. */
  readonly kernelProblem?: string
}

/** Completes a native chunk to the columns of app/trace/tables.ts. Throws on a chunk that is not well-formed. */
export const completeChunk = (chunk: NativeChunk, origin: Origin): TraceChunk => {
  for (const [name, column] of Object.entries(chunk.columns))
    if (column.length !== chunk.rows)
      throw new Error(`${chunk.table}.${name} has ${column.length} rows instead of ${chunk.rows}`)
  switch (chunk.table) {
    case 'spans':
      return { ...chunk, columns: { ...chunk.columns, provenance: spanProvenance(chunk, origin) } }
    case 'kernels':
      return kernelChunk(chunk, origin)
    case 'steps':
      return { ...chunk, columns: stepColumns(chunk, origin) }
    case 'events':
      return { ...chunk, columns: eventColumns(chunk, origin) }
    case 'rows':
    case 'pages':
      return chunk
  }
}

const code = (provenance: Provenance): number => PROVENANCES.indexOf(provenance)

const GRAPH_REPLAY = STAGES.indexOf('graph_replay')

/** Code of a span or kernel; `meets`: it is an exchange, or contains one. */
const workCode = (sharing: Sharing, meets: boolean): number => {
  const touched = sharing === 'time-sliced' || (sharing === 'emulated' && meets)
  return code(touched ? sharing : 'measured')
}

const spanProvenance = ({ rows, columns }: NativeChunk, { sharing }: Origin): Uint8Array =>
  Uint8Array.from({ length: rows }, (_, i) =>
    workCode(sharing, Number(columns.collective_seq?.[i] ?? -1) >= 0 || columns.stage?.[i] === GRAPH_REPLAY),
  )

/** Stages in which ranks meet: their copies stand for what would go from one device to another. */
const MEETING_STAGES = STAGES.map((stage) => STAGE_FAMILY[stage] === 'communication')

const MERGE = STAGES.indexOf('merge')

const kernelChunk = (chunk: NativeChunk, { sharing, mergesPeers = false }: Origin): TraceChunk => {
  const { names = [], columns, ...rest } = chunk
  const name = Array.from(numbers(chunk, 'name'), (place) => names[place] ?? 'unknown')
  const provenance = Uint8Array.from(numbers(chunk, 'stage'), (stage) =>
    workCode(sharing, MEETING_STAGES[stage] === true || (mergesPeers && stage === MERGE)),
  )
  return { ...rest, columns: { ...columns, name, provenance } }
}

/** Throughput that stands for more layers than were computed is scaled, whatever else holds. */
const stepProvenance = ({ measuredLayers, layers, sharing }: Origin): Provenance =>
  measuredLayers < layers ? 'scaled' : sharing === 'none' ? 'measured' : sharing

/** Of all layers; what a step does once, its metadata, counts once. */
const stepColumns = (chunk: NativeChunk, origin: Origin): TraceChunk['columns'] => {
  const { once_ns, ...columns } = chunk.columns
  const [wall, once, tokens] = [
    numbers(chunk, 'wall_ns'),
    numbers(chunk, 'once_ns'),
    numbers(chunk, 'tokens'),
  ]
  const share = origin.measuredLayers / origin.layers
  const tokensPerSecond = Float64Array.from(wall, (ns, i) => {
    const first = once[i] ?? 0
    return ((tokens[i] ?? 0) * 1e9) / (first + (ns - first) / share)
  })
  return {
    ...columns,
    tokens_per_s: tokensPerSecond,
    provenance: new Uint8Array(chunk.rows).fill(code(stepProvenance(origin))),
  }
}

const EVENT_NUMBERS = ['step', 'layer', 'rank', 'request', 'time_ns', 'kind'] as const

const eventColumns = (chunk: NativeChunk, { kernelProblem }: Origin): TraceChunk['columns'] => {
  const column = (name: string): Float64Array => numbers(chunk, name)
  const [step, layer, rank, request] = [column('step'), column('layer'), column('rank'), column('request')]
  const [kind, row, value, limit] = [column('kind'), column('row'), column('value'), column('limit')]
  const texts = Array.from(kind, (code, i) => {
    const known = eventKind(code)
    if (known === undefined) throw new Error(`event kind ${code} is not known`)
    return eventText({
      kind: known,
      step: step[i] ?? -1,
      layer: layer[i] ?? -1,
      rank: rank[i] ?? -1,
      request: request[i] ?? -1,
      row: row[i] ?? -1,
      value: value[i] ?? 0,
      limit: limit[i] ?? 0,
      ...(kernelProblem === undefined ? {} : { reason: kernelProblem }),
    })
  })
  const kept = Object.entries(chunk.columns).filter(([name]) =>
    EVENT_NUMBERS.some((number) => number === name),
  )
  return {
    ...Object.fromEntries(kept),
    severity: Uint8Array.from(texts, (text) => SEVERITIES.indexOf(text.severity)),
    message: texts.map((text) => text.message),
    detail: texts.map((text) => text.detail),
  }
}

const numbers = (chunk: NativeChunk, name: string): Float64Array => {
  const column = chunk.columns[name]
  if (column === undefined) throw new Error(`${chunk.table}.${name} is missing`)
  return Float64Array.from(column, Number)
}

/** Room in a message for all that is not column data. */
const ENVELOPE_BYTES = 4096

type WireChunk = Extract<TraceMessage, { type: 'chunk' }>['chunk']

export interface SizedChunk {
  readonly chunk: WireChunk
  /** Size of the message that carries the chunk, at most MESSAGE_BYTES. */
  readonly bytes: number
}

/** Cuts a chunk into messages of at most MESSAGE_BYTES, rows in order. */
export const sizedChunks = (chunk: TraceChunk): SizedChunk[] => cut(chunk, 0, chunk.rows)

const cut = (chunk: TraceChunk, from: number, to: number): SizedChunk[] => {
  const bytes = rangeBytes(chunk, from, to)
  if (bytes <= MESSAGE_BYTES) return [{ chunk: copied(chunk, from, to), bytes }]
  if (to - from < 2)
    throw new Error(`a row of ${chunk.table} does not fit a message of ${MESSAGE_BYTES} bytes`)
  const middle = (from + to) >> 1
  return [...cut(chunk, from, middle), ...cut(chunk, middle, to)]
}

const rangeBytes = (chunk: TraceChunk, from: number, to: number): number =>
  Object.values(chunk.columns).reduce((sum, column) => sum + columnBytes(column, from, to), ENVELOPE_BYTES)

/** Text is counted at two bytes a character and eight a string, the most that structured clone takes. */
const columnBytes = (column: ColumnData, from: number, to: number): number =>
  isText(column)
    ? column.slice(from, to).reduce((sum, text) => sum + 8 + 2 * text.length, 0)
    : column.BYTES_PER_ELEMENT * (to - from)

const isText = (column: ColumnData): column is readonly string[] => Array.isArray(column)

/** A copy with buffers of its own size: structured clone sends the whole buffer behind a view. */
const copied = (chunk: TraceChunk, from: number, to: number): WireChunk => ({
  table: chunk.table,
  rank: chunk.rank,
  rows: to - from,
  columns: Object.fromEntries(
    Object.entries(chunk.columns).map(([name, column]) => [name, column.slice(from, to)]),
  ),
})
