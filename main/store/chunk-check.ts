import { type ColumnData, type ColumnType, TABLES, type TraceChunk } from '../../app/trace/tables.ts'
import { StoreProblem } from './problem.ts'
import { ENUM_VALUES, isEnumType } from './table-sql.ts'

/**
 * Refuses a chunk that does not fit app/trace/tables.ts: what passes is copied byte by byte into DuckDB.
 * `ranks` is the number of ranks of the run.
 */
export const checkChunk = (chunk: TraceChunk, ranks: number): void => {
  const { table, rank, rows, columns } = chunk
  const refuse = (rule: string): never => {
    throw new StoreProblem(`a chunk of ${table} ${rule}`)
  }
  const { perRank, columns: expected } = TABLES[table]
  if (perRank ? rank < 0 || rank >= ranks : rank !== -1)
    refuse(
      perRank ? `is of rank ${rank}, the run has ranks 0 to ${ranks - 1}` : `must have rank -1, got ${rank}`,
    )
  if (Object.keys(columns).length !== expected.length) {
    const extra = Object.keys(columns).filter((name) => !expected.some((c) => c.name === name))
    if (extra.length > 0) refuse(`has the unknown column ${extra.join(', ')}`)
  }
  for (const { name, type } of expected) {
    const data = columns[name]
    if (data === undefined) throw new StoreProblem(`a chunk of ${table} lacks the column ${name}`)
    if (data.length !== rows) refuse(`has ${rows} rows, but ${data.length} in ${name}`)
    const bound = valueBound(type)
    if (!fits(data, type)) refuse(`has ${name} as ${data.constructor.name}, which is not ${type}`)
    if (bound !== undefined && data instanceof Uint8Array && !data.every((code) => code < bound))
      refuse(`has a value of ${bound} or more in ${name}`)
  }
}

/** Codes and booleans lie below this. */
const valueBound = (type: ColumnType): number | undefined =>
  type === 'bool' ? 2 : isEnumType(type) ? ENUM_VALUES[type].length : undefined

const fits = (data: ColumnData, type: ColumnType): boolean => {
  switch (type) {
    case 'i32':
      return data instanceof Int32Array
    case 'i64':
      return data instanceof BigInt64Array
    case 'f64':
      return data instanceof Float64Array
    case 'f32':
      return data instanceof Float32Array
    case 'text':
      return Array.isArray(data)
    case 'bool':
    case 'stage':
    case 'provenance':
    case 'kind':
    case 'severity':
      return data instanceof Uint8Array
  }
}
