import { useMemo, useState } from 'react'
import {
  type ConfigDifference,
  dumpDifferences,
  runDifferences,
  unlikeness,
} from '../../../app/compare/configs.ts'
import type { RunInfo } from '../../../app/protocol/store.ts'
import { comparedWith, useCompare } from '../../state/compare.ts'
import { useDump } from '../../state/dump.ts'
import { type OpenItem, useOpen } from '../../state/open.ts'
import { useSession } from '../../state/session.ts'
import { type AnswerState, useAnswer } from '../../state/use-answer.ts'
import type { Rows, Tensors, Times } from './model.ts'

export interface Sides {
  readonly a: OpenItem | null
  readonly b: OpenItem | null
}

/** What is compared: what is shown, and what was chosen beside it. */
export const useSides = (): Sides => {
  const dump = useDump((s) => s.dump)
  const openId = useSession((s) => s.openId)
  const items = useOpen((s) => s.items)
  const other = useCompare((s) => s.other)
  const runs = useSession((s) => s.runs)
  return useMemo(() => {
    const a: OpenItem | null =
      dump !== null ? { kind: 'dump', id: dump } : openId !== null ? { kind: 'run', id: openId } : null
    return { a, b: comparedWith(a, other, items, runs) }
  }, [dump, openId, items, other, runs])
}

export interface Comparison {
  readonly info: { readonly a: RunInfo | null; readonly b: RunInfo | null }
  /** Null while they are read. */
  readonly differences: readonly ConfigDifference[] | null
  readonly unlike: readonly string[]
  /** Null while they are read, and of dumps. */
  readonly times: Times | null
  readonly rows: Rows | null
  readonly tensors: Tensors | null
  readonly loading: boolean
  /** Share of the long work that is done; null where that is not known. */
  readonly share: number | null
  readonly error: string | null
  readonly again: () => void
}

/** Metadata of the first file of a dump; null while it is read. */
const useMetadata = (dump: string | null): ReadonlyMap<string, string> | null => {
  const info = useAnswer('dumpInfo', dump === null ? null : { dump })
  const group = info.answer?.params.dump === dump ? info.answer?.data.groups[0] : undefined
  const files = useAnswer(
    'dumpGroup',
    dump === null || group === undefined ? null : { dump, step: group.step, layer: group.layer },
  )
  const metadata = files.answer?.params.dump === dump ? files.answer?.data.files[0]?.metadata : undefined
  return useMemo(
    () => (metadata === undefined ? null : new Map(metadata.map(({ key, value }) => [key, value]))),
    [metadata],
  )
}

/** The answer to the present pair; one to an earlier pair is none. */
const answerOf = <M extends 'compareTimes' | 'compareRows' | 'compareTensors'>(
  { answer }: AnswerState<M>,
  pair: { readonly a: string; readonly b: string } | null,
) => {
  const params: { a: string; b: string } | undefined = answer?.params
  return pair !== null && params?.a === pair.a && params.b === pair.b ? (answer?.data ?? null) : null
}

/** Everything that is asked of both sides. */
export const useComparison = ({ a, b }: Sides): Comparison => {
  const [round, setRound] = useState(0)
  const pair = a === null || b === null ? null : { a: a.id, b: b.id }
  const areRuns = a?.kind === 'run' && b?.kind === 'run'
  const again = String(round)
  const infoA = useAnswer('runInfo', pair !== null && areRuns ? { run: pair.a } : null, again)
  const infoB = useAnswer('runInfo', pair !== null && areRuns ? { run: pair.b } : null, again)
  const [first, second] = [
    infoA.answer?.params.run === pair?.a ? (infoA.answer?.data ?? null) : null,
    infoB.answer?.params.run === pair?.b ? (infoB.answer?.data ?? null) : null,
  ]
  const hasSweep = [first, second].some((info) => info?.manifest.sweep !== undefined)
  const known = areRuns && first !== null && second !== null && !hasSweep
  const times = useAnswer('compareTimes', known ? pair : null, again)
  const rows = useAnswer('compareRows', known ? pair : null, again)
  const tensors = useAnswer('compareTensors', known || (pair !== null && !areRuns) ? pair : null, again)
  const [metaA, metaB] = [
    useMetadata(pair !== null && !areRuns ? pair.a : null),
    useMetadata(pair !== null && !areRuns ? pair.b : null),
  ]
  const differences = useMemo(() => {
    if (first !== null && second !== null) return runDifferences(first.manifest, second.manifest)
    return metaA === null || metaB === null ? null : dumpDifferences(metaA, metaB)
  }, [first, second, metaA, metaB])
  const work = tensors.work ?? times.work
  return {
    info: { a: first, b: second },
    differences,
    unlike: differences === null ? [] : unlikeness(differences),
    times: answerOf(times, pair),
    rows: answerOf(rows, pair),
    tensors: answerOf(tensors, pair),
    loading: infoA.loading || infoB.loading || times.loading || rows.loading || tensors.loading,
    share: work === null || work.total === 0 ? null : work.done / work.total,
    error: infoA.error ?? infoB.error ?? times.error ?? rows.error ?? tensors.error,
    again: () => setRound(round + 1),
  }
}
