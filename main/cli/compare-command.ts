import { statSync } from 'node:fs'
import { basename } from 'node:path'
import {
  type ConfigDifference,
  dumpDifferences,
  runDifferences,
  unlikeness,
} from '../../app/compare/configs.ts'
import { firstDivergence } from '../../app/compare/numbers.ts'
import type { StoreResult } from '../../app/protocol/store.ts'
import { hasManifest } from '../store/manifest-file.ts'
import { compareText } from './compare-text.ts'
import { badInput, EXIT, type ExitCode } from './failure.ts'
import { openStore, type StoreSession } from './store-session.ts'

/** A bundle of a run, or a file or folder of tensor dumps. */
interface Side {
  readonly kind: 'run' | 'dump'
  readonly name: string
  readonly id: string
}

/** What `compare --json` prints. Times in ns; an error is null where one of both is no number. */
export interface CompareDocument {
  readonly a: Omit<Side, 'id'>
  readonly b: Omit<Side, 'id'>
  readonly differences: readonly ConfigDifference[]
  /** Why they cannot be compared without more, in sentences. */
  readonly unlike: readonly string[]
  /** Null where one is no run. */
  readonly times: Omit<StoreResult<'compareTimes'>, 'series' | 'partSteps' | 'perPart'> | null
  readonly rows: StoreResult<'compareRows'> | null
  /** Null where nothing was captured of the same step and layer. */
  readonly tensors: StoreResult<'compareTensors'> | null
  /** Whether numbers are farther apart than rounding explains, in what both recorded or captured. */
  readonly diverges: boolean
}

export interface CompareAnswer {
  readonly stdout: string
  readonly exitCode: ExitCode
}

export interface CompareOptions {
  /** Bundles of further runs; those that repeat one of both say what differs from run to run. */
  readonly repeats?: readonly string[]
  readonly json?: boolean
}

/** What `compare` prints of two runs or dumps; exit 1 when their numbers diverge, whatever their times do. */
export const compareCommand = async (
  a: string,
  b: string,
  { repeats = [], json }: CompareOptions,
): Promise<CompareAnswer> => {
  const store = await openStore()
  try {
    for (const bundle of repeats) await store.open(bundle)
    const document = await compared(store, await sideOf(store, a, 'a'), await sideOf(store, b, 'b'))
    return {
      stdout: json === true ? JSON.stringify(document) : compareText(document),
      exitCode: document.diverges ? EXIT.no : EXIT.fine,
    }
  } finally {
    await store.close()
  }
}

const sideOf = async (store: StoreSession, path: string, letter: string): Promise<Side> => {
  const name = basename(path)
  if (hasManifest(path) || /\.dcp[/\\]?$/.test(path)) return { kind: 'run', name, id: await store.open(path) }
  if (statSync(path, { throwIfNoEntry: false }) === undefined)
    throw badInput(`${path}: there is no such file or folder; name two bundles of runs, or two dumps`)
  return { kind: 'dump', name, id: await store.openDump(`dump-${letter}`, path) }
}

const compared = async (store: StoreSession, a: Side, b: Side): Promise<CompareDocument> => {
  const pair = { a: a.id, b: b.id }
  const areRuns = a.kind === 'run' && b.kind === 'run'
  const times = areRuns ? await store.request('compareTimes', pair) : null
  const rows = areRuns ? await store.request('compareRows', pair) : null
  const found = await store.request('compareTensors', pair)
  const tensors = found.groups === 0 ? null : found
  if (!areRuns && tensors === null) throw badInput(nothingCommon(a, b))
  const differences = areRuns ? await ofRuns(store, a, b) : await ofDumps(store, a, b)
  const { series: _series, partSteps: _steps, perPart: _part, ...told } = times ?? {}
  const named = ({ kind, name }: Side): Omit<Side, 'id'> => ({ kind, name })
  return {
    a: named(a),
    b: named(b),
    differences,
    unlike: unlikeness(differences),
    times: times === null ? null : (told as CompareDocument['times']),
    rows,
    tensors,
    diverges:
      (tensors !== null && firstDivergence(tensors.tensors) !== null) ||
      (rows !== null && rows.first !== null),
  }
}

const nothingCommon = (a: Side, b: Side): string =>
  `${a.name} and ${b.name} have tensors of no step and layer in common; capture or dump the same step and layer of both`

const ofRuns = async (store: StoreSession, a: Side, b: Side): Promise<readonly ConfigDifference[]> => {
  const [first, second] = [
    await store.request('runInfo', { run: a.id }),
    await store.request('runInfo', { run: b.id }),
  ]
  return runDifferences(first.manifest, second.manifest)
}

/** By the first file of each. */
const ofDumps = async (store: StoreSession, a: Side, b: Side): Promise<readonly ConfigDifference[]> => {
  const metadata = async ({ id }: Side): Promise<ReadonlyMap<string, string>> => {
    const [group] = (await store.request('dumpInfo', { dump: id })).groups
    if (group === undefined) return new Map()
    const { files } = await store.request('dumpGroup', { dump: id, step: group.step, layer: group.layer })
    return new Map(files[0]?.metadata.map(({ key, value }) => [key, value]) ?? [])
  }
  return dumpDifferences(await metadata(a), await metadata(b))
}
