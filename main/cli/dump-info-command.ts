import { type DumpProblem, type DumpSet, problemSentence } from '../../app/dump/dumps.ts'
import { answerable } from '../../app/dump/questions.ts'
import { readDumps } from '../dump/dump-files.ts'
import { dumpInfoText } from './dump-info-text.ts'
import { badInputs, EXIT, type ExitCode } from './failure.ts'

export interface DumpInfoAnswer {
  readonly stdout: string
  readonly exitCode: ExitCode
}

/** What `dump-info` prints of dump files, folders and bundles; exit 1 when something is wrong with them. */
export const dumpInfoCommand = async (
  paths: readonly string[],
  { json }: { readonly json?: boolean },
): Promise<DumpInfoAnswer> => {
  const set = await readDumps(paths)
  if (set.groups.length === 0) throw badInputs(set.problems.map(problemSentence))
  return {
    stdout: json === true ? JSON.stringify(dumpInfoDocument(set)) : dumpInfoText(set),
    exitCode: set.problems.length === 0 ? EXIT.fine : EXIT.no,
  }
}

const dumpInfoDocument = ({ groups, problems }: DumpSet): object => ({
  groups: groups.map((group) => ({
    step: group.step,
    layer: group.layer,
    dcpSize: group.dcpSize,
    missingRanks: group.missing,
    ranks: [...group.ranks].map(([rank, { reader, info }]) => ({
      rank,
      file: reader.file,
      bytes: reader.source.size,
      metadata: info,
      tensors: [...reader.header.tensors.values()].map(({ name, dtype, shape }) => ({ name, dtype, shape })),
    })),
    reference: group.reference?.reader.file ?? null,
    questions: answerable(group).map(({ question, missing, missingRanks }) => ({
      question: question.name,
      asks: question.asks,
      answerable: missing.length === 0 && missingRanks.length === 0,
      needs: missing,
      needsRanks: missingRanks,
    })),
  })),
  problems: problems.map(problemDocument),
})

const problemDocument = (problem: DumpProblem): object => {
  const { file = null, tensor = null, step = null, layer = null, rule, refused } = problem
  return { file, tensor, step, layer, rule, refused, message: problemSentence(problem) }
}
