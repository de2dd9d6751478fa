import { checkContent } from './content.ts'
import { type DumpInfo, dumpInfo } from './dump.ts'
import { grouped } from './grouping.ts'
import { TensorReader } from './reader.ts'
import { DumpError } from './safetensors.ts'
import type { ByteSource } from './source.ts'

/** One file: a rank's view of one step and layer. */
export interface Dump {
  readonly reader: TensorReader
  readonly info: DumpInfo
}

/** The files of one step and layer that fit together. */
export interface DumpGroup {
  readonly step: number
  readonly layer: number
  readonly dcpSize: number
  /** By rank, in order. */
  readonly ranks: ReadonlyMap<number, Dump>
  /** Ranks that no file is of. */
  readonly missing: readonly number[]
  /** The unsharded reference of a run of dcpscope. */
  readonly reference: Dump | undefined
}

/** What is wrong with a file, or with a group as a whole. */
export interface DumpProblem {
  /** Undefined: the group as a whole. */
  readonly file?: string
  readonly tensor?: string
  readonly step?: number
  readonly layer?: number
  readonly rule: string
  /** The file is left out; otherwise it is used all the same. */
  readonly refused: boolean
}

export interface DumpSet {
  /** By step, then layer. */
  readonly groups: readonly DumpGroup[]
  readonly problems: readonly DumpProblem[]
}

/** One sentence that names the file or the group, the tensor and the rule. */
export const problemSentence = ({ file, tensor, step, layer, rule }: DumpProblem): string =>
  [
    file ?? `step ${step}, layer ${layer}`,
    ...(tensor === undefined ? [] : [`tensor ${shortName(tensor)}`]),
    rule,
  ].join(': ')

/** A header may hold names of any length, which must not bury what else is said. */
const MAX_NAME = 120

export const shortName = (tensor: string): string =>
  tensor.length > MAX_NAME ? `${tensor.slice(0, MAX_NAME)}... (${tensor.length} characters)` : tensor

/**
 * Reads headers and tables of integers of `sources`, in any order, and groups them by step and layer. Whatever is
 * wrong with a file becomes a problem, and the others are used. Sources are closed again; reading on opens them.
 * Rejects only when `aborted` says so, with the reason that it throws.
 */
export const openDumps = async (
  sources: Iterable<ByteSource>,
  aborted: () => void = () => {},
): Promise<DumpSet> => {
  const problems: DumpProblem[] = []
  const dumps: Dump[] = []
  for (const source of sources) {
    aborted()
    try {
      const dump = await openDump(source)
      dumps.push(dump)
      for (const error of await checkContent(dump.reader, dump.info))
        problems.push(problemOf(error, source, false, dump))
    } catch (error) {
      if (dumps.at(-1)?.reader.source === source) dumps.pop()
      problems.push(problemOf(error, source, true))
    } finally {
      await source.close()
    }
  }
  return { groups: grouped(dumps, problems), problems }
}

const openDump = async (source: ByteSource): Promise<Dump> => {
  const reader = await TensorReader.open(source)
  return { reader, info: dumpInfo(reader.header, source.name) }
}

const problemOf = (error: unknown, source: ByteSource, refused: boolean, dump?: Dump): DumpProblem => ({
  file: source.name,
  ...(error instanceof DumpError && error.tensor !== undefined ? { tensor: error.tensor } : {}),
  ...(dump === undefined ? {} : { step: dump.info.step, layer: dump.info.layer }),
  rule: error instanceof DumpError ? error.rule : error instanceof Error ? error.message : String(error),
  refused,
})
