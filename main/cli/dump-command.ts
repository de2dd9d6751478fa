import { join } from 'node:path'
import { type DumpGroup, type DumpProblem, problemSentence } from '../../app/dump/dumps.ts'
import { dumpFileName } from '../../app/dump/schema.ts'
import { copyFiles, type FileCopy } from '../dump/copy-files.ts'
import { readDumps } from '../dump/dump-files.ts'
import { captureFolder, listCaptures } from '../store/bundle-files.ts'
import { readManifest } from '../store/manifest-file.ts'
import { codeOf } from '../store/problem.ts'
import { newFolder } from './bundle-folder.ts'
import { badInput, CliFailure, EXIT, type ExitCode, messageOf } from './failure.ts'
import { numberRanges } from './number-ranges.ts'
import { watchSignals } from './signals.ts'

export interface DumpOptions {
  readonly out: string
  readonly steps?: string
  readonly layers?: string
  readonly json?: boolean
}

export interface DumpAnswer {
  readonly stdout: string
  readonly exitCode: ExitCode
}

/** Writes the captured tensors of a bundle to a folder of dump files; exit 1 when a rank is missing. Nothing is left behind when it fails. */
export const dumpCommand = async (bundle: string, options: DumpOptions): Promise<DumpAnswer> => {
  const out = newFolder(options.out)
  const { groups, problems } = await chosenGroups(bundle, options)
  const copies = groups.flatMap(({ step, layer, ranks }) =>
    [...ranks].map(([rank, { reader }]) => ({
      step,
      layer,
      rank,
      from: reader.file,
      name: dumpFileName(step, layer, rank),
    })),
  )
  await write(copies, out)
  const files = copies.map(({ step, layer, rank, name }) => ({ step, layer, rank, file: join(out, name) }))
  return {
    stdout:
      options.json === true
        ? JSON.stringify({ out, files, problems: problems.map(problemSentence) })
        : [
            `${counted(files.length, 'file')} of ${counted(groups.length, 'capture')} in ${out}`,
            ...problems.map(problemSentence),
          ].join('\n'),
    exitCode: problems.length === 0 ? EXIT.fine : EXIT.no,
  }
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** The captures that are asked for, and what they lack. A file that is damaged ends the command. */
const chosenGroups = async (
  bundle: string,
  { steps, layers }: DumpOptions,
): Promise<{ groups: readonly DumpGroup[]; problems: readonly DumpProblem[] }> => {
  const isStep = steps === undefined ? () => true : numberRanges('--steps', steps)
  const isLayer = layers === undefined ? () => true : numberRanges('--layers', layers)
  try {
    readManifest(bundle)
  } catch (error) {
    throw badInput(messageOf(error))
  }
  const captured = listCaptures(bundle)
  if (captured.length === 0)
    throw badInput(`the run captured no tensors; capture.steps of its configuration says which: ${bundle}`)
  const chosen = captured.filter(({ step, layer }) => isStep(step) && isLayer(layer))
  if (chosen.length === 0)
    throw badInput(
      `no such step and layer was captured; captured are ${captured.map(({ step, layer }) => `step ${step}, layer ${layer}`).join('; ')}`,
    )
  const { groups, problems } = await readDumps(chosen.map((ref) => captureFolder(bundle, ref)))
  const damaged = problems.filter(({ refused }) => refused)
  if (damaged.length > 0) throw badInput(damaged.map(problemSentence).join('; '))
  return { groups, problems }
}

/** Copies the files, or nothing. */
const write = async (copies: readonly FileCopy[], out: string): Promise<void> => {
  const signals = watchSignals()
  try {
    await copyFiles(copies, out, () => {
      if (signals.asked()) throw new CliFailure(EXIT.interrupted, `ended before the dump was written: ${out}`)
    })
  } catch (error) {
    if (error instanceof CliFailure) throw error
    const full = codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT'
    throw new CliFailure(
      EXIT.engineFailed,
      `the dump could not be written: ${full ? 'the disk is full' : messageOf(error)}: ${out}`,
    )
  } finally {
    signals.release()
  }
}
