import { type Counted, type CoverageCheck, coverageChecks } from '../../../app/dcp/coverage.ts'
import type { LayoutRequest } from '../../../app/dcp/layout.ts'
import { localLengths } from '../../../app/dcp/ownership.ts'
import type { EngineLengths } from './engine-lengths.ts'
import type { Shown } from './use-source.ts'

const counted = (lengths: EngineLengths | null): Counted | null =>
  lengths === null ? null : { len: lengths.globalLen, local: lengths.localLens }

const byRule = (len: number, layout: LayoutRequest): Counted => ({ len, local: localLengths(len, layout) })

/** What must hold of the request: of what the engine recorded, and without a run of the rule itself. */
export const checksOf = (
  layout: LayoutRequest,
  {
    run,
    dump,
    recorded,
    before,
    written,
    error,
  }: Pick<Shown, 'run' | 'dump' | 'recorded' | 'before' | 'written' | 'error'>,
): CoverageCheck[] => {
  const now = counted(recorded)
  if (now !== null) return coverageChecks(now, layout, counted(before), written)
  const rule = coverageChecks(
    byRule(layout.len, layout),
    layout,
    layout.len === 0 ? null : byRule(layout.len - 1, layout),
    null,
  )
  if (run === null && dump === null) return rule
  const detail =
    dump?.of.counted === false
      ? 'needs seq_lens_local of every rank, which the dump does not have'
      : (error ?? 'the lengths of this step are not read yet')
  return rule.map((check) => ({ ...check, state: 'unknown', detail }))
}

/** The rule that is shown beside another at first: pages in turn, or tokens in turn where pages are. */
export const firstBeside = ({ dcp, interleave, page }: LayoutRequest) => ({
  dcp,
  interleave: interleave === 1 ? page : 1,
})
