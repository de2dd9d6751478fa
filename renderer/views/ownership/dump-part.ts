import { useMemo } from 'react'
import { tableWidth } from '../../../app/dcp/pages.ts'
import { type DumpedBatch, useCalculator } from '../../state/calculator.ts'
import { useSelection } from '../../state/selection.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { inRange, type Source, sourceOfFields } from './source.ts'

/** The request of a dump that is shown. */
export interface DumpPart {
  readonly of: DumpedBatch
  readonly request: number
}

/** The selected request of the dump, where one is shown. */
export const useDumpPart = (): DumpPart | null => {
  const { source, dumped } = useCalculator()
  const request = useSelection((s) => s.request)
  return useMemo(
    () =>
      source !== 'dump' || dumped === null
        ? null
        : { of: dumped, request: inRange(request, dumped.lens.length, 0) },
    [source, dumped, request],
  )
}

/** The layout of a request of a dump. */
export const sourceOfDump = ({ of: { lens, ...layout }, request }: DumpPart): Source => {
  const { dcp, interleave, page } = layout
  return sourceOfFields({ len: lens[request] ?? 0, dcp, interleave, page })
}

/** Most columns of a block table that a dump is asked for at once. */
const MAX_COLUMNS = 4096

/** Physical page of each column of a request of a dump; null while unknown. */
export const usePagesOfDump = (dump: DumpPart | null, source: Source): Int32Array | null => {
  const columns = source.ok ? tableWidth(source.layout.len, source.layout) : 0
  const asked =
    dump === null || columns === 0 || columns > MAX_COLUMNS
      ? null
      : {
          source: { dump: dump.of.dump, step: dump.of.step, layer: dump.of.layer, rank: 0 },
          requestFrom: dump.request,
          requests: 1,
          columnFrom: 0,
          marks: columns,
          perMark: 1,
        }
  const { answer, loading } = useAnswer('pageCells', asked)
  const pages = answer?.data.page
  return useMemo(() => (pages === undefined || loading ? null : Int32Array.from(pages)), [pages, loading])
}
