import { type DuckDBConnection, DuckDBInstance, type DuckDBResult } from '@duckdb/node-api'
import duckdb from '@duckdb/node-bindings'

/**
 * An in-memory DuckDB that reads and writes local files only: nothing is downloaded or loaded. It does not spill
 * either, which would fill a folder `.tmp` wherever the program was started and leave it there.
 */
export const openDuck = (options: Readonly<Record<string, string>> = {}): Promise<DuckDBInstance> =>
  DuckDBInstance.create(':memory:', {
    threads: '2',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    temp_directory: '',
    ...options,
  })

export const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`

export const sqlName = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Runs `work` on a connection of its own, which is closed afterwards. */
export const withConnection = async <T>(
  instance: DuckDBInstance,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> => {
  const connection = await instance.connect()
  try {
    return await work(connection)
  } finally {
    connection.closeSync()
  }
}

/** Ends the statements of `work` when `signal` says that nobody waits for them any more. */
export const interruptible = async <T>(
  connection: DuckDBConnection,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> => {
  signal?.throwIfAborted()
  const interrupt = (): void => connection.interrupt()
  signal?.addEventListener('abort', interrupt)
  try {
    return await work()
  } finally {
    signal?.removeEventListener('abort', interrupt)
  }
}

/** Rows as plain objects of numbers, strings, booleans and nulls; BIGINT becomes a number (exact below 2^53). */
export type PlainRow = Readonly<Record<string, number | string | boolean | null>>

export const plainRows = async (connection: DuckDBConnection, sql: string): Promise<PlainRow[]> => {
  const rows = await (await connection.run(sql)).getRowObjects()
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, plain(value)])))
}

const plain = (value: unknown): number | string | boolean | null => {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
    ? value
    : String(value)
}

/** A number of a row; NULL and text count as `otherwise`. */
export const numberOf = (row: PlainRow | undefined, name: string, otherwise = 0): number => {
  const value = row?.[name]
  return typeof value === 'number' ? value : otherwise
}

export const textOf = (row: PlainRow, name: string): string => String(row[name] ?? '')

/** Bytes of one value by the column types that `readColumns` takes. */
const WIDTHS: Readonly<Record<string, number>> = {
  DOUBLE: 8,
  BIGINT: 8,
  INTEGER: 4,
  FLOAT: 4,
  UTINYINT: 1,
  BOOLEAN: 1,
}

/** Columns of a result as typed arrays. SQL must cast to DOUBLE, INTEGER, FLOAT or UTINYINT and leave no NULL. */
export class ColumnSet {
  readonly rows: number
  readonly #columns: ReadonlyMap<string, ArrayBuffer>

  constructor(rows: number, columns: ReadonlyMap<string, ArrayBuffer>) {
    this.rows = rows
    this.#columns = columns
  }

  f64(name: string): Float64Array<ArrayBuffer> {
    return new Float64Array(this.#buffer(name, 8))
  }

  f32(name: string): Float32Array<ArrayBuffer> {
    return new Float32Array(this.#buffer(name, 4))
  }

  i32(name: string): Int32Array<ArrayBuffer> {
    return new Int32Array(this.#buffer(name, 4))
  }

  u8(name: string): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#buffer(name, 1))
  }

  #buffer(name: string, width: number): ArrayBuffer {
    const buffer = this.#columns.get(name)
    if (buffer === undefined || buffer.byteLength !== this.rows * width)
      throw new Error(`the result has no column ${name} of ${width} bytes a value`)
    return buffer
  }
}

/**
 * Streams a result in pieces of about 2048 rows; `take` gets each piece. Rejects where a row cannot be read, also when
 * pieces before it have been taken: DuckDB's binding ends a stream without a word at an error, so rows are counted.
 */
export const streamColumns = async (
  connection: DuckDBConnection,
  sql: string,
  take: (piece: ColumnSet) => void,
): Promise<void> => {
  const [counted] = await plainRows(connection, `SELECT count(*) AS rows FROM (${sql})`)
  let left = numberOf(counted, 'rows')
  const result = await connection.stream(sql)
  const shape = columnShape(result)
  for (
    let chunk = await result.fetchChunk();
    chunk !== null && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    const rows = chunk.rowCount
    const columns = new Map<string, ArrayBuffer>()
    shape.forEach(({ name, width }, i) => {
      const bytes = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk.chunk, i), rows * width)
      // A copy: the bytes belong to DuckDB's vector.
      const own = new Uint8Array(rows * width)
      own.set(bytes)
      columns.set(name, own.buffer)
    })
    take(new ColumnSet(rows, columns))
    left -= rows
  }
  if (left <= 0) return
  // Read as a whole it says what is wrong.
  await connection.run(sql)
  throw new Error(`a result ended ${left} rows early`)
}

const columnShape = (result: DuckDBResult): { name: string; width: number }[] =>
  result.columnNames().map((name, i) => {
    const type = result.columnType(i).toString()
    const width = WIDTHS[type]
    if (width === undefined) throw new Error(`column ${name} has the type ${type}`)
    return { name, width }
  })

/** The whole result as typed arrays. */
export const readColumns = async (connection: DuckDBConnection, sql: string): Promise<ColumnSet> => {
  const result = await connection.run(sql)
  const shape = columnShape(result)
  const rows = result.rowCount
  const columns = shape.map(({ width }) => new Uint8Array(rows * width))
  let done = 0
  for (let n = 0; n < result.chunkCount; n++) {
    const chunk = result.getChunk(n)
    shape.forEach(({ width }, i) => {
      const vector = duckdb.data_chunk_get_vector(chunk.chunk, i)
      columns[i]?.set(duckdb.vector_get_data(vector, chunk.rowCount * width), done * width)
    })
    done += chunk.rowCount
  }
  return new ColumnSet(
    rows,
    new Map(shape.map(({ name }, i) => [name, columns[i]?.buffer ?? new ArrayBuffer(0)])),
  )
}
