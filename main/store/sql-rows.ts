import {
  type DuckDBDataChunk,
  type DuckDBResult,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValueConverter,
  type Json,
  JsonDuckDBValueConverter,
} from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'
import { StoreProblem } from './problem.ts'

/** Bytes of values that an answer may hold, about: few rows can be as large as many. */
const MAX_ANSWER_BYTES = 256 * 2 ** 20
const WORD_BYTES = 8
/** Entries of lists are objects on the way, several words each. */
const MAX_ENTRIES = MAX_ANSWER_BYTES / (4 * WORD_BYTES)

const tooLarge = (): StoreProblem =>
  new StoreProblem(
    `the answer is larger than ${MAX_ANSWER_BYTES / 2 ** 20} MiB; ask for fewer rows or shorter values`,
  )

/** At most `most` rows, converted one by one, so that large ones end the query and not the process. */
export const firstRows = async (result: DuckDBResult, most: number): Promise<Json[][]> => {
  const rows: Json[][] = []
  const types = result.columnTypes()
  let bytes = 0
  for (
    let chunk = await result.fetchChunk();
    chunk !== null && chunk.rowCount > 0 && rows.length < most;
    chunk = await result.fetchChunk()
  ) {
    if (entriesOf(chunk, types) > MAX_ENTRIES) throw tooLarge()
    for (let i = 0; i < chunk.rowCount && rows.length < most; i++) {
      const row = chunk.convertRowValues(i, jsonValue)
      bytes += sizeOf(row)
      if (bytes > MAX_ANSWER_BYTES) throw tooLarge()
      rows.push(row)
    }
  }
  return rows
}

/** Entries of all lists in a chunk, known before the first is made: one value may hold a hundred million. */
const entriesOf = ({ chunk }: DuckDBDataChunk, types: readonly DuckDBType[]): number =>
  types.reduce((sum, type, i) => sum + listEntries(duckdb.data_chunk_get_vector(chunk, i), type), 0)

const listEntries = (vector: duckdb.Vector, type: DuckDBType): number => {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
      return (
        duckdb.list_vector_get_size(vector) +
        listEntries(duckdb.list_vector_get_child(vector), type.valueType)
      )
    case DuckDBTypeId.MAP: {
      const pairs = duckdb.list_vector_get_child(vector)
      return (
        duckdb.list_vector_get_size(vector) +
        listEntries(duckdb.struct_vector_get_child(pairs, 0), type.keyType) +
        listEntries(duckdb.struct_vector_get_child(pairs, 1), type.valueType)
      )
    }
    case DuckDBTypeId.STRUCT:
      return type.entryTypes.reduce(
        (sum, entry, i) => sum + listEntries(duckdb.struct_vector_get_child(vector, i), entry),
        0,
      )
    case DuckDBTypeId.ARRAY:
      return listEntries(duckdb.array_vector_get_child(vector), type.valueType)
    default:
      return 0
  }
}

/** Bytes that a value takes, about. */
const sizeOf = (value: Json): number => {
  if (typeof value === 'string') return WORD_BYTES + value.length
  if (typeof value !== 'object' || value === null) return WORD_BYTES
  const parts: readonly Json[] = Array.isArray(value) ? value : Object.values(value)
  return parts.reduce<number>((sum, part) => sum + sizeOf(part), WORD_BYTES * (2 + parts.length))
}

const jsonValue: DuckDBValueConverter<Json> = (value, type, converter) => {
  if (typeof value !== 'bigint') return JsonDuckDBValueConverter(value, type, converter)
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}
