import { type Dump, type DumpGroup, type DumpSet, problemSentence, shortName } from '../../app/dump/dumps.ts'
import { answerable, lackText, numbersText } from '../../app/dump/questions.ts'
import { shapeText } from '../../app/dump/safetensors.ts'
import { TENSORS } from '../../app/dump/schema.ts'
import { printable, textTable } from './text-table.ts'

/** A dump in words: each step and layer with its tensors and what they can answer, then what is wrong. */
export const dumpInfoText = ({ groups, problems }: DumpSet): string =>
  [
    ...groups.map(groupText),
    ...(problems.length === 0
      ? []
      : [['problems', ...problems.map((problem) => `  ${printable(problemSentence(problem))}`)].join('\n')]),
  ].join('\n\n')

const groupText = (group: DumpGroup): string =>
  [
    `step ${group.step}, layer ${group.layer}: ${summaryOf(group)}`,
    indented(textTable(['tensor', 'shape', 'type', 'ranks'], tensorRows(group))),
    '',
    indented(textTable(['question', 'can be answered'], questionRows(group))),
  ].join('\n')

const summaryOf = ({ ranks, dcpSize, reference }: DumpGroup): string => {
  const [first] = ranks.values()
  const bytes = [...ranks.values()].reduce((sum, { reader }) => sum + reader.source.size, 0)
  const { interleave = 1, qLen = 1, lseBase, comm, kvLayout, backend, engine, graph } = first?.info ?? {}
  return [
    ranks.size === dcpSize ? `${dcpSize} ranks` : `${ranks.size} of ${dcpSize} ranks`,
    `interleave ${interleave}`,
    `q_len ${qLen}`,
    lseBase === undefined ? 'lse base unknown' : `lse base ${lseBase}`,
    ...[comm, kvLayout, backend, engine].filter((text) => text !== undefined).map(printable),
    ...(graph === true ? ['graph replay'] : []),
    sizeText(bytes),
    ...(reference === undefined ? [] : ['with a reference']),
  ].join(', ')
}

/** Binary, with three digits. */
const sizeText = (bytes: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toPrecision(3)} ${units[power]}`
}

/** A line for each tensor of a shape and type, those of the format first. */
const tensorRows = ({ ranks }: DumpGroup): string[][] => {
  const lines = new Map<string, { row: readonly [string, string, string]; ranks: number[] }>()
  for (const [rank, dump] of ranks)
    for (const { name, shape, dtype } of inOrder(dump)) {
      const row = [name, shapeText(shape), dtype] as const
      const line = lines.get(row.join(' ')) ?? { row, ranks: [] }
      line.ranks.push(rank)
      lines.set(row.join(' '), line)
    }
  return [...lines.values()]
    .sort((a, b) => place(a.row[0]) - place(b.row[0]))
    .map(({ row: [name, ...rest], ranks: of }) => [shortName(name), ...rest, numbersText(of)])
}

const place = (name: string): number => {
  const at = TENSORS.findIndex((tensor) => tensor.name === name)
  return at < 0 ? TENSORS.length : at
}

const inOrder = ({ reader }: Dump) =>
  [...reader.header.tensors.values()].sort((a, b) => place(a.name) - place(b.name))

const questionRows = (group: DumpGroup): string[][] =>
  answerable(group).map((one) => {
    const lacks = lackText(one, group)
    return [one.question.asks, lacks === '' ? 'yes' : `no, it needs ${lacks}`]
  })

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
