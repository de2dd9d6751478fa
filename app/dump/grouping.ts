import type { Dump, DumpGroup, DumpProblem } from './dumps.ts'
import { agreed } from './majority.ts'
import { shapeText, type TensorEntry } from './safetensors.ts'

/** Groups files by step and layer; those that do not fit the others become problems. */
export const grouped = (dumps: readonly Dump[], problems: DumpProblem[]): DumpGroup[] =>
  [...classes(dumps, ({ info }) => info.step)]
    .flatMap((ofStep) => classes(sameDcpSize(ofStep, problems), ({ info }) => info.layer))
    .map((group) => groupOf(group, problems))
    .filter((group) => group.ranks.size > 0)
    .sort((a, b) => a.step - b.step || a.layer - b.layer)

/** Dumps of equal keys, in the order of the first of each. */
const classes = (dumps: readonly Dump[], key: (dump: Dump) => number): Dump[][] => {
  const found = new Map<number, Dump[]>()
  for (const dump of dumps) {
    const others = found.get(key(dump))
    if (others === undefined) found.set(key(dump), [dump])
    else others.push(dump)
  }
  return [...found.values()]
}

const refusing =
  (problems: DumpProblem[]) =>
  ({ reader, info }: Dump, rule: string, tensor?: string): void => {
    problems.push({
      file: reader.file,
      ...(tensor === undefined ? {} : { tensor }),
      step: info.step,
      layer: info.layer,
      rule,
      refused: true,
    })
  }

/** An engine has one dcp size: those of a step that say another than most are left out. */
const sameDcpSize = (ofStep: readonly Dump[], problems: DumpProblem[]): Dump[] => {
  const refuse = refusing(problems)
  return agreed(
    ofStep,
    ({ info }) => info.dcpSize,
    (dump, size, of) =>
      refuse(
        dump,
        `is of dcp_size ${dump.info.dcpSize}, other files of step ${dump.info.step} are of ${size} (${of.reader.file})`,
      ),
  )
}

const groupOf = (given: readonly Dump[], problems: DumpProblem[]): DumpGroup => {
  const refuse = refusing(problems)
  const [reference, ...others] = given.filter(({ info }) => info.rank === 'reference')
  for (const dump of others) refuse(dump, `is a second reference; ${reference?.reader.file} is used`)
  const ofRanks = given.filter(({ info }) => info.rank !== 'reference')
  const ranks = byRank(sameShapes(ofRanks, problems), problems)
  sameFacts([...ranks.values()], problems)
  const { step = 0, layer = 0, dcpSize = 1 } = given[0]?.info ?? {}
  if (ranks.size === 0 && reference !== undefined)
    refuse(reference, 'is a reference of which no rank is given')
  const missing = Array.from({ length: dcpSize }, (_, rank) => rank).filter((rank) => !ranks.has(rank))
  if (missing.length > 0 && ranks.size > 0)
    problems.push({
      step,
      layer,
      rule: `lacks ${missing.length === 1 ? 'rank' : 'ranks'} ${missing.join(', ')} of ${dcpSize}`,
      refused: false,
    })
  return { step, layer, dcpSize, ranks, missing, reference }
}

/** Ranks of one call have the same query rows, heads, widths and requests: those that differ from most are left out. */
const sameShapes = (ofRanks: readonly Dump[], problems: DumpProblem[]): readonly Dump[] => {
  const refuse = refusing(problems)
  return Object.keys(PLACES).reduce(
    (dumps, size) =>
      agreed(
        dumps,
        (dump) => sizeIn(dump, size)?.size,
        (dump, most, of) => {
          const { tensor, size: own } = sizeIn(dump, size) ?? {}
          refuse(
            dump,
            `has ${size} = ${own} in ${shapeText(tensor?.shape ?? [])}, other ranks have ${most} (${of.reader.file})`,
            tensor?.name,
          )
        },
      ),
    ofRanks,
  )
}

/** What files say of the call rather than of their rank, by the name that it has there. */
const FACTS: Readonly<Record<string, (info: Dump['info']) => string | number | undefined>> = {
  interleave: ({ interleave }) => interleave,
  page_size: ({ pageSize }) => pageSize,
  q_len: ({ qLen }) => qLen,
  softmax_scale: ({ softmaxScale }) => softmaxScale,
  comm: ({ comm }) => comm,
}

/** Of a call there is one truth: files that say another than most are named, and their tensors are used. */
const sameFacts = (ofRanks: readonly Dump[], problems: DumpProblem[]): void => {
  for (const [name, fact] of Object.entries(FACTS))
    agreed(
      ofRanks,
      ({ info }) => fact(info),
      ({ reader, info }, common, of) => {
        problems.push({
          file: reader.file,
          step: info.step,
          layer: info.layer,
          rule: `says ${name} ${fact(info)}, other ranks say ${common} (${of.reader.file}), which is taken for all`,
          refused: false,
        })
      },
    )
}

/** The first file of each rank, in order of the ranks. */
const byRank = (dumps: readonly Dump[], problems: DumpProblem[]): Map<number, Dump> => {
  const refuse = refusing(problems)
  const ranks = new Map<number, Dump>()
  for (const dump of [...dumps].sort((a, b) => Number(a.info.rank) - Number(b.info.rank))) {
    const rank = Number(dump.info.rank)
    const before = ranks.get(rank)
    if (before === undefined) ranks.set(rank, dump)
    else
      refuse(
        dump,
        `is of rank ${rank} of step ${dump.info.step}, layer ${dump.info.layer}, as is ${before.reader.file}; that one is used`,
      )
  }
  return ranks
}

/** Where a file has each size that ranks share. */
const PLACES: Readonly<Record<string, readonly (readonly [tensor: string, dim: number])[]>> = {
  T: [
    ['q', 0],
    ['out', 0],
    ['lse', 0],
    ['out_kernel', 0],
    ['lse_kernel', 0],
    ['merged', 0],
  ],
  H: [
    ['q', 1],
    ['out', 1],
    ['lse', 1],
    ['out_kernel', 1],
    ['lse_kernel', 1],
  ],
  W: [
    ['out', 2],
    ['out_kernel', 2],
    ['merged', 2],
  ],
  B: [
    ['seq_lens_global', 0],
    ['seq_lens_local', 0],
    ['block_table', 0],
  ],
}

const sizeIn = ({ reader }: Dump, size: string): { tensor: TensorEntry; size: number } | undefined => {
  for (const [name, dim] of PLACES[size] ?? []) {
    const tensor = reader.header.tensors.get(name)
    const found = tensor?.shape[dim]
    if (tensor !== undefined && found !== undefined) return { tensor, size: found }
  }
  return undefined
}
