import { gridValues, type TensorGrid } from './grid.ts'
import type { TensorReader } from './reader.ts'

/** How long work tells how far it is and hears that nobody wants it any more. */
export interface Work {
  /** Throws when the work is to end. */
  readonly aborted: () => void
  /** `done` of `total`, in values. */
  readonly progress: (done: number, total: number) => void
}

/** Values that are read at once. */
const CHUNK = 1 << 18
/** Values from which on not all rows are read unless asked for: about a tenth of a second. */
export const SAMPLE_VALUES = 1 << 24

/** Every `rowStep`-th row is read: 1 where `all` is asked for or there is no more than a sample. */
export const rowStepOf = ({ rows, columns, width }: TensorGrid, all: boolean): number =>
  all ? 1 : Math.min(Math.max(1, rows), Math.ceil((rows * columns * width) / SAMPLE_VALUES))

/** A part of a row that was read: its cells begin at value `from` of the row. */
interface Chunk {
  readonly row: number
  readonly from: number
  readonly values: Float64Array
}

/** Every `rowStep`-th row in order. Rows that lie together are read together, long ones in parts. */
export async function* chunksOf(
  reader: TensorReader,
  name: string,
  grid: TensorGrid,
  rowStep: number,
  { aborted, progress }: Work,
): AsyncGenerator<Chunk> {
  const rowValues = grid.columns * grid.width
  const together = rowStep === 1 ? Math.max(1, Math.floor(CHUNK / rowValues)) : 1
  const total = Math.ceil(grid.rows / rowStep) * rowValues
  let done = 0
  for (let row = 0; row < grid.rows; row += together * rowStep) {
    const rows = Math.min(together, grid.rows - row)
    for (let from = 0; from < rows * rowValues; from += CHUNK) {
      aborted()
      const count = Math.min(CHUNK, rows * rowValues - from)
      const values = await gridValues(reader, name, row * rowValues + from, count)
      if (rows === 1) yield { row, from, values }
      else
        for (let i = 0; i < rows; i++)
          yield { row: row + i, from: 0, values: values.subarray(i * rowValues, (i + 1) * rowValues) }
      done += count
      progress(done, total)
    }
  }
}

/** What the values of a tensor are, those that are no ordinary numbers counted apart. */
export interface Counts {
  /** Values that were read. */
  readonly values: number
  readonly nan: number
  readonly plusInf: number
  readonly minusInf: number
  readonly zero: number
  /** Of the finite values; NaN where there are none. */
  readonly least: number
  readonly most: number
  readonly mean: number
  readonly rms: number
}

/** Counts values as they come. */
class Counter {
  values = 0
  nan = 0
  plusInf = 0
  minusInf = 0
  zero = 0
  least = Number.POSITIVE_INFINITY
  most = Number.NEGATIVE_INFINITY
  #sum = 0
  #squares = 0

  take(values: Float64Array): void {
    this.values += values.length
    let { zero, least, most } = this
    let sum = 0
    let squared = 0
    for (let i = 0; i < values.length; i++) {
      const value = values[i] ?? 0
      // Whatever is no finite number makes this NaN.
      if (Number.isNaN(value - value)) this.#takeOdd(value)
      else {
        if (value === 0) zero++
        if (value < least) least = value
        if (value > most) most = value
        sum += value
        squared += value * value
      }
    }
    this.zero = zero
    this.least = least
    this.most = most
    this.#sum += sum
    this.#squares += squared
  }

  #takeOdd(value: number): void {
    if (Number.isNaN(value)) this.nan++
    else if (value > 0) this.plusInf++
    else this.minusInf++
  }

  counts(): Counts {
    const { values, nan, plusInf, minusInf, zero } = this
    const finite = values - nan - plusInf - minusInf
    return {
      values,
      nan,
      plusInf,
      minusInf,
      zero,
      least: finite === 0 ? Number.NaN : this.least,
      most: finite === 0 ? Number.NaN : this.most,
      mean: this.#sum / finite,
      rms: Math.sqrt(this.#squares / finite),
    }
  }
}

/** What is shown of a cell of several values, or of one. */
export const MEASURES = ['value', 'absmax', 'norm', 'nan'] as const
export type Measure = (typeof MEASURES)[number]

/** Cells of a map at most; beyond it one stands for several. */
export const MAP_CELLS = 1 << 16

export interface TensorMap {
  readonly grid: TensorGrid
  /** Every `rowStep`-th row was read. */
  readonly rowStep: number
  /** Rows and columns of the tensor that one cell of the map stands for. */
  readonly rowsPerCell: number
  readonly columnsPerCell: number
  readonly mapRows: number
  readonly mapColumns: number
  /** [mapRows * mapColumns]: of several cells the worst, so that a coarse map hides nothing. NaN is the worst. */
  readonly cells: Float32Array<ArrayBuffer>
  readonly counts: Counts
}

/**
 * A measure of every cell: `value` of cells of one value, `absmax` and `norm` (Euclidean) of several, NaN where a value is
 * NaN; `nan` counts values that are NaN or infinite.
 */
export const tensorMap = async (
  reader: TensorReader,
  name: string,
  grid: TensorGrid,
  measure: Measure,
  all: boolean,
  work: Work,
): Promise<TensorMap> => {
  const rowStep = rowStepOf(grid, all)
  const { rowsPerCell, columnsPerCell } = coarsened(grid, rowStep)
  const mapRows = Math.ceil(grid.rows / rowsPerCell)
  const mapColumns = Math.ceil(grid.columns / columnsPerCell)
  const cells = new Float32Array(mapRows * mapColumns)
  const taken = new Uint8Array(cells.length)
  const counter = new Counter()
  const put = (row: number, column: number, value: number): void => {
    const at = Math.floor(row / rowsPerCell) * mapColumns + Math.floor(column / columnsPerCell)
    const before = cells[at] ?? 0
    if (taken[at] === 0) cells[at] = value
    else if (measure === 'nan') cells[at] = before + value
    else if (worse(value, before)) cells[at] = value
    taken[at] = 1
  }
  const { width } = grid
  const cell = new CellMeasure(measure)
  for await (const { row, from, values } of chunksOf(reader, name, grid, rowStep, work)) {
    counter.take(values)
    // A chunk may begin and end within a cell of many values.
    for (let i = 0; i < values.length; ) {
      const at = from + i
      const end = Math.min(values.length, i + width - (at % width))
      cell.take(values, i, end)
      if ((from + end) % width === 0) put(row, Math.floor(at / width), cell.result())
      i = end
    }
  }
  return { grid, rowStep, rowsPerCell, columnsPerCell, mapRows, mapColumns, cells, counts: counter.counts() }
}

const worse = (a: number, b: number): boolean =>
  Number.isNaN(b) ? false : Number.isNaN(a) || Math.abs(a) > Math.abs(b)

/** Few enough cells, and each begins with a row that is read. */
const coarsened = (
  { rows, columns }: TensorGrid,
  rowStep: number,
): { readonly rowsPerCell: number; readonly columnsPerCell: number } => {
  const columnsPerCell = Math.max(1, Math.ceil(columns / 1024))
  const mapColumns = Math.ceil(columns / columnsPerCell)
  const mapRows = Math.max(1, Math.floor(MAP_CELLS / mapColumns))
  return { columnsPerCell, rowsPerCell: rowStep * Math.ceil(Math.max(1, rows / mapRows / rowStep)) }
}

/** The measure of one cell, whose values may come in parts. */
class CellMeasure {
  readonly #measure: Measure
  #value = 0

  constructor(measure: Measure) {
    this.#measure = measure
  }

  take(values: Float64Array, from: number, end: number): void {
    switch (this.#measure) {
      case 'value':
        this.#value = values[end - 1] ?? 0
        break
      case 'absmax':
        this.#value = largest(values, from, end, this.#value)
        break
      case 'norm':
        this.#value += squares(values, from, end)
        break
      case 'nan':
        this.#value += odd(values, from, end)
        break
    }
  }

  /** Of the values since the last result. */
  result(): number {
    const value = this.#value
    this.#value = 0
    return this.#measure === 'norm' ? Math.sqrt(value) : value
  }
}

// One loop each: a choice within it would take as long as reading.

const largest = (values: Float64Array, from: number, end: number, before: number): number => {
  let most = before
  for (let i = from; i < end; i++) {
    const size = Math.abs(values[i] ?? 0)
    // Of NaN both are false, and it stays.
    if (!(size <= most)) {
      if (Number.isNaN(most)) return most
      most = size
    }
  }
  return most
}

const squares = (values: Float64Array, from: number, end: number): number => {
  let sum = 0
  for (let i = from; i < end; i++) {
    const value = values[i] ?? 0
    sum += value * value
  }
  return sum
}

const odd = (values: Float64Array, from: number, end: number): number => {
  let count = 0
  for (let i = from; i < end; i++) if (!Number.isFinite(values[i])) count++
  return count
}

/** Bars of a histogram with equal steps. */
export const HISTOGRAM_BARS = 64

export interface Histogram {
  readonly counts: Counts
  readonly rowStep: number
  /** Finite values other than 0 in equal steps from `counts.least` to `counts.most`; of few integers one bar each. */
  readonly linear: Float64Array<ArrayBuffer>
  /** Finite values other than 0 by powers of two: entry i counts those of size 2^(leastExponent + i) to twice that. */
  readonly leastExponent: number
  readonly negative: Float64Array<ArrayBuffer>
  readonly positive: Float64Array<ArrayBuffer>
}

/** Counts the values of a tensor, in equal steps and by powers of two. Reads twice. */
export const tensorHistogram = async (
  reader: TensorReader,
  name: string,
  grid: TensorGrid,
  all: boolean,
  { aborted, progress }: Work,
): Promise<Histogram> => {
  const rowStep = rowStepOf(grid, all)
  const half = (pass: 0 | 1): Work => ({
    aborted,
    progress: (done, total) => progress(pass * total + done, 2 * total),
  })
  const counter = new Counter()
  const octaves = { negative: new Float64Array(EXPONENTS), positive: new Float64Array(EXPONENTS) }
  for await (const { values } of chunksOf(reader, name, grid, rowStep, half(0))) {
    counter.take(values)
    for (const value of values)
      if (Number.isFinite(value) && value !== 0) {
        const side = value < 0 ? octaves.negative : octaves.positive
        const at = exponentOf(value) - LEAST_EXPONENT
        side[at] = (side[at] ?? 0) + 1
      }
  }
  const counts = counter.counts()
  const { least, most } = counts
  const whole = reader.tensor(name).dtype.startsWith('I') && most - least < HISTOGRAM_BARS
  const linear = new Float64Array(
    Number.isNaN(least) ? 0 : whole ? most - least + 1 : least === most ? 1 : HISTOGRAM_BARS,
  )
  const step = whole ? 1 : (most - least) / linear.length
  for await (const { values } of chunksOf(reader, name, grid, rowStep, half(1)))
    for (const value of values)
      if (Number.isFinite(value) && value !== 0) {
        const at = step > 0 ? Math.min(linear.length - 1, Math.floor((value - least) / step)) : 0
        linear[at] = (linear[at] ?? 0) + 1
      }
  return { counts, rowStep, linear, ...trimmed(octaves) }
}

/** Of float64, subnormal ones aside, which count as the least. */
const LEAST_EXPONENT = -1023
const EXPONENTS = 2048

const scratch = new Float64Array(1)
const words = new Uint32Array(scratch.buffer)

/** floor(log2 |value|), exactly. */
const exponentOf = (value: number): number => {
  scratch[0] = value
  return (((words[1] ?? 0) >>> 20) & 0x7ff) + LEAST_EXPONENT
}

const trimmed = ({
  negative,
  positive,
}: {
  readonly negative: Float64Array<ArrayBuffer>
  readonly positive: Float64Array<ArrayBuffer>
}): Pick<Histogram, 'leastExponent' | 'negative' | 'positive'> => {
  const used = Array.from(positive, (count, i) => count + (negative[i] ?? 0))
  const first = used.findIndex((count) => count > 0)
  if (first < 0) return { leastExponent: 0, negative: new Float64Array(0), positive: new Float64Array(0) }
  const end = used.findLastIndex((count) => count > 0) + 1
  return {
    leastExponent: first + LEAST_EXPONENT,
    negative: negative.slice(first, end),
    positive: positive.slice(first, end),
  }
}

/** Values at most that `tensorVector` gives at once. */
export const VECTOR_VALUES = 4096

/** Which values belong to a cell: its own where it has several, else those of its row, else all. */
export interface VectorPlace {
  /** First value within the tensor, and how many there are. */
  readonly start: number
  readonly total: number
  /** What an index counts: `value`, or what a column or row is. */
  readonly each: string
}

export const vectorPlace = (
  { columns, width, rows, columnName, rowName }: TensorGrid,
  row: number,
  column: number,
): VectorPlace =>
  width > 1
    ? { start: (row * columns + column) * width, total: width, each: 'value' }
    : columns > 1
      ? { start: row * columns, total: columns, each: columnName }
      : { start: 0, total: rows, each: rowName }
