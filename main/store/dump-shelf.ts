import { statSync } from 'node:fs'
import { dirname, relative, sep } from 'node:path'
import { compareNumbers, type NumberComparison } from '../../app/compare/numbers.ts'
import { type Case, loadCase } from '../../app/diagnosis/case.ts'
import { type Dump, type DumpGroup, type DumpSet, shortName } from '../../app/dump/dumps.ts'
import { gridOf, gridValues, type TensorGrid } from '../../app/dump/grid.ts'
import { answerable, lackText } from '../../app/dump/questions.ts'
import { TensorReader } from '../../app/dump/reader.ts'
import { callSize, firstKeptHead, rowNamesOf } from '../../app/dump/rows.ts'
import type { ByteSource } from '../../app/dump/source.ts'
import { tensorHistogram, tensorMap, vectorPlace, type Work } from '../../app/dump/survey.ts'
import {
  type DumpFile,
  type DumpRank,
  MAX_DUMP_PROBLEMS,
  MAX_OTHER_TENSORS,
  type StoreMethod,
  type StoreParams,
  type StoreResult,
  storeMethods,
} from '../../app/protocol/store.ts'
import { readDumps } from '../dump/dump-files.ts'
import { Latest } from './latest.ts'
import { isMissing, StoreProblem } from './problem.ts'
import { parsedParams } from './run-bundle.ts'

/** Methods that are about a dump. */
export const DUMP_METHODS = [
  'dumpInfo',
  'dumpGroup',
  'tensorMap',
  'tensorHistogram',
  'tensorVector',
] as const satisfies readonly StoreMethod[]
export type DumpMethod = (typeof DUMP_METHODS)[number]

export const isDumpMethod = (method: StoreMethod): method is DumpMethod =>
  DUMP_METHODS.some((name) => name === method)

type Params<M extends DumpMethod> = StoreParams<M>
type GroupRef = Pick<Params<'dumpGroup'>, 'dump' | 'step' | 'layer'>

/** Dumps whose headers stay in memory. */
const OPEN_DUMPS = 2
/** Steps and layers whose tables stay in memory. */
const OPEN_CASES = 2
/** Requests whose lengths are told at most. */
const MAX_LENGTHS = 1 << 16
/** Keys of the metadata of a file, and characters of one value, that are told at most. */
const MAX_METADATA = 100
const MAX_VALUE = 500

/** Answers questions about tensor dumps. Rejects with one sentence. */
export class DumpShelf {
  /** Files and folders of a dump; undefined where there is no such dump. */
  readonly #pathsOf: (dump: string) => readonly string[] | undefined
  /** Dumps that were asked for, the latest last. */
  readonly #sets = new Map<string, DumpSet>()
  /** How many questions are reading a file at this moment. */
  readonly #readers = new Map<TensorReader, number>()

  readonly #cases = new Latest<DumpGroup, Case>(OPEN_CASES)

  constructor(pathsOf: (dump: string) => readonly string[] | undefined) {
    this.#pathsOf = pathsOf
  }

  answer(method: DumpMethod, params: unknown, work: Work): Promise<StoreResult<DumpMethod>> {
    switch (method) {
      case 'dumpInfo':
        return this.#info(parsedParams(method, storeMethods.dumpInfo.params, params), work)
      case 'dumpGroup':
        return this.#groupInfo(parsedParams(method, storeMethods.dumpGroup.params, params))
      case 'tensorMap':
        return this.#map(parsedParams(method, storeMethods.tensorMap.params, params), work)
      case 'tensorHistogram':
        return this.#histogram(parsedParams(method, storeMethods.tensorHistogram.params, params), work)
      case 'tensorVector':
        return this.#vector(parsedParams(method, storeMethods.tensorVector.params, params))
    }
  }

  /** The tables of a step and layer, as a diagnosis reads them; the same object as long as the dump is not read anew. */
  async tables(ref: GroupRef): Promise<Case> {
    const group = await this.#group(ref)
    return this.#cases.of(group, () =>
      this.#reading([...group.ranks.values()], async () =>
        loadCase({ ...group, ranks: await leftOpen(group.ranks) }),
      ),
    )
  }

  /** Compares the tensors of two dumps, which are read anew. */
  async compare(a: string, b: string, work: Work): Promise<NumberComparison> {
    const [first, second] = [await this.#read(a, work), await this.#read(b, work)]
    const dumps = [...first.groups, ...second.groups].flatMap(({ ranks }) => [...ranks.values()])
    return this.#reading(dumps, () => compareNumbers(first.groups, second.groups, work))
  }

  async #info({ dump }: Params<'dumpInfo'>, work: Work): Promise<StoreResult<'dumpInfo'>> {
    const { groups, problems } = await this.#read(dump, work)
    return {
      groups: groups.map((group) => ({
        step: group.step,
        layer: group.layer,
        dcpSize: group.dcpSize,
        ranks: Int32Array.from(group.ranks.keys()),
        missing: Int32Array.from(group.missing),
        bytes: [...group.ranks.values()].reduce((sum, { reader }) => sum + reader.source.size, 0),
        hasReference: group.reference !== undefined,
      })),
      problems: problems
        .slice(0, MAX_DUMP_PROBLEMS)
        .map(({ file = null, tensor = null, step = null, layer = null, rule, refused }) => ({
          file,
          tensor: tensor === null ? null : shortName(tensor),
          step,
          layer,
          rule,
          refused,
        })),
      moreProblems: Math.max(0, problems.length - MAX_DUMP_PROBLEMS),
    }
  }

  async #groupInfo(ref: GroupRef): Promise<StoreResult<'dumpGroup'>> {
    const group = await this.#group(ref)
    const { rows, heads } = callSize(group)
    const [first] = group.ranks.values()
    const { interleave = 1, pageSize } = first?.info ?? {}
    const all = [...group.ranks.values(), ...(group.reference === undefined ? [] : [group.reference])]
    const names = await this.#reading(all, () => rowNamesOf(group, rows))
    return {
      dcpSize: group.dcpSize,
      files: all.map((dump) => fileOf(dump, heads)),
      missing: Int32Array.from(group.missing),
      questions: answerable(group).map((one) => ({
        name: one.question.name,
        asks: one.question.asks,
        lacks: lackText(one, group),
      })),
      rows,
      heads,
      ...names,
      globalLens: await this.#lengths(group),
      interleave,
      pageSize: pageSize ?? null,
    }
  }

  /** Lengths of the first rank that has them; null where none does or there are very many. */
  async #lengths(group: DumpGroup): Promise<Float64Array<ArrayBuffer> | null> {
    const name = 'seq_lens_global'
    const told = [...group.ranks.values()].find(({ reader }) => reader.has(name))
    if (told === undefined || (told.reader.tensor(name).shape[0] ?? 0) > MAX_LENGTHS) return null
    return this.#reading([told], () => told.reader.values(name))
  }

  async #map(params: Params<'tensorMap'>, work: Work): Promise<StoreResult<'tensorMap'>> {
    const { dump, grid } = await this.#tensor(params)
    return this.#reading([dump], () =>
      tensorMap(dump.reader, params.tensor, grid, params.measure, params.all, work),
    )
  }

  async #histogram(params: Params<'tensorHistogram'>, work: Work): Promise<StoreResult<'tensorHistogram'>> {
    const { dump, grid } = await this.#tensor(params)
    return this.#reading([dump], () => tensorHistogram(dump.reader, params.tensor, grid, params.all, work))
  }

  async #vector({ cells, from, max, ...ref }: Params<'tensorVector'>): Promise<StoreResult<'tensorVector'>> {
    const parts = await Promise.all(
      cells.map(async ({ rank, row, column }) => {
        const { dump, grid } = await this.#tensor({ ...ref, rank })
        if (row >= grid.rows || column >= grid.columns)
          throw new StoreProblem(
            `${ref.tensor} of rank ${rank} has no ${grid.rowName} ${row}, ${grid.columnName} ${column}`,
          )
        return { rank, dump, ...vectorPlace(grid, row, column) }
      }),
    )
    const total = Math.max(0, ...parts.map((part) => part.total))
    const count = Math.max(0, Math.min(max, total - from))
    const values = new Float64Array(parts.length * count).fill(Number.NaN)
    await this.#reading(
      parts.map(({ dump }) => dump),
      async () => {
        for (const [i, { dump, start, total: own }] of parts.entries())
          values.set(
            await gridValues(dump.reader, ref.tensor, start + from, Math.max(0, Math.min(count, own - from))),
            i * count,
          )
      },
    )
    return {
      ranks: parts.map(({ rank }) => rank),
      each: parts[0]?.each ?? 'value',
      total,
      count,
      values,
    }
  }

  async #tensor({
    rank,
    tensor,
    ...ref
  }: GroupRef & { readonly rank: DumpRank; readonly tensor: string }): Promise<{
    readonly dump: Dump
    readonly grid: TensorGrid
  }> {
    const group = await this.#group(ref)
    const dump = rank === 'reference' ? group.reference : group.ranks.get(rank)
    const entry = dump?.reader.header.tensors.get(tensor)
    const grid = entry === undefined ? undefined : gridOf(entry)
    if (dump === undefined || grid === undefined)
      throw new StoreProblem(
        `step ${ref.step}, layer ${ref.layer} has no ${tensor} of ${rank === 'reference' ? 'the reference' : `rank ${rank}`}`,
      )
    return { dump, grid }
  }

  async #group({ dump, step, layer }: GroupRef): Promise<DumpGroup> {
    const found = (set: DumpSet | undefined): DumpGroup | undefined =>
      set?.groups.find((group) => group.step === step && group.layer === layer)
    // A run that goes on has more than when its headers were read.
    const group = found(this.#sets.get(dump)) ?? found(await this.#read(dump))
    if (group === undefined) throw new StoreProblem(`the dump has no step ${step}, layer ${layer}`)
    return group
  }

  async #read(id: string, work?: Work): Promise<DumpSet> {
    const paths = this.#pathsOf(id)
    if (paths === undefined) throw new StoreProblem('no such dump')
    const aborted = (done: number, total: number): void => {
      work?.aborted()
      work?.progress(done, total)
    }
    const set = await readDumps(paths, aborted, nameBelow(paths))
    this.#sets.delete(id)
    this.#sets.set(id, set)
    for (const [oldest] of this.#sets) {
      if (this.#sets.size <= OPEN_DUMPS) break
      this.#sets.delete(oldest)
    }
    return set
  }

  /** Files are closed when the last question that reads them is answered. */
  async #reading<T>(dumps: readonly Dump[], read: () => Promise<T>): Promise<T> {
    const readers = dumps.map(({ reader }) => reader)
    for (const reader of readers) this.#readers.set(reader, (this.#readers.get(reader) ?? 0) + 1)
    try {
      return await read()
    } catch (error) {
      throw isMissing(error)
        ? new StoreProblem('a file of the dump was moved or removed; open the dump again')
        : error
    } finally {
      for (const reader of readers) {
        const left = (this.#readers.get(reader) ?? 1) - 1
        if (left > 0) this.#readers.set(reader, left)
        else {
          this.#readers.delete(reader)
          await reader.close()
        }
      }
    }
  }
}

/** Readers of the same files that others may close while they read: files are closed when the last question is answered. */
const leftOpen = async (ranks: DumpGroup['ranks']): Promise<Map<number, Dump>> => {
  const open = new Map<number, Dump>()
  for (const [rank, { reader, info }] of ranks) {
    const { name, size } = reader.source
    const source: ByteSource = {
      name,
      size,
      read: (from, length) => reader.source.read(from, length),
      close: async () => {},
    }
    open.set(rank, { info, reader: await TensorReader.open(source) })
  }
  return open
}

/** What is told of a file: a header may hold any number of names and texts of any length. */
const fileOf = ({ reader, info }: Dump, heads: number): DumpFile => {
  const all = [...reader.header.tensors.values()]
  const others = all.filter((tensor) => gridOf(tensor) === undefined)
  return {
    rank: info.rank,
    file: reader.file,
    bytes: reader.source.size,
    metadata: [...reader.header.metadata]
      .slice(0, MAX_METADATA)
      .map(([key, value]) => ({ key: shortName(key), value: value.slice(0, MAX_VALUE) })),
    tensors: [
      ...all.filter((tensor) => gridOf(tensor) !== undefined),
      ...others.slice(0, MAX_OTHER_TENSORS),
    ].map(({ name, dtype, shape }) => ({ name: shortName(name), dtype, shape: [...shape] })),
    moreTensors: Math.max(0, others.length - MAX_OTHER_TENSORS),
    firstKeptHead: firstKeptHead(reader, info, heads),
  }
}

/** Names files by their way from the folder that all of a dump lies in. */
const nameBelow = (paths: readonly string[]): ((path: string) => string) => {
  const folders = paths.map((path) =>
    (statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : dirname(path)).split(sep),
  )
  const [first = [], ...others] = folders
  const apart = first.findIndex((part, i) => others.some((parts) => parts[i] !== part))
  const base = first.slice(0, apart < 0 ? first.length : apart).join(sep)
  return (path) => {
    const below = relative(base, path)
    return below === '' || below.startsWith('..') ? path : below
  }
}
