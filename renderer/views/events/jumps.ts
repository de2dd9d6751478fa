import type { Stage } from '../../../app/trace/stages.ts'
import { tell } from '../../state/messages.ts'
import { type Selection, useSelection } from '../../state/selection.ts'
import { request } from '../../state/store-client.ts'
import { useView } from '../../state/view.ts'

export const TARGETS = ['timeline', 'merge', 'ownership'] as const
export type Target = (typeof TARGETS)[number]

export const TARGET_WORDS: Readonly<Record<Target, string>> = {
  timeline: 'Timeline',
  merge: 'Merge',
  ownership: 'Ownership',
}

/** Stages whose span shows a partial, or the merge of it; of several the one that starts last. */
const PARTIAL_STAGES: readonly Stage[] = ['decode_attn']
const MERGE_STAGES: readonly Stage[] = ['merge', 'lse_correct']

/** SQL for the start of the span that a kind of event is about. */
export const spanSql = (
  kind: string,
  { step, layer, rank }: { readonly step: number; readonly layer: number; readonly rank: number },
): string => {
  const merged = kind === 'nan_in_merged' || kind === 'check_failed'
  const stages = (merged ? MERGE_STAGES : PARTIAL_STAGES).map((stage) => `'${stage}'`).join(', ')
  return `SELECT start_ns FROM spans WHERE rank = ${rank} AND step = ${step} AND layer = ${layer}
    AND stage IN (${stages}) ORDER BY start_ns DESC LIMIT 1`
}

const spanStart = async (run: string, kind: string, place: Partial<Selection>): Promise<number | null> => {
  const { step, layer, rank } = place
  if (step == null || layer == null || rank == null) return null
  const { rows } = await request('query', { run, sql: spanSql(kind, { step, layer, rank }), limit: 1 })
  const start = rows[0]?.[0]
  return typeof start === 'number' ? start : null
}

/** Selects a place and shows it in another view; in Timeline the span of its stage, where it names rank and layer. */
export const jump = (run: string, target: Target, kind: string, place: Partial<Selection>): void => {
  const { select } = useSelection.getState()
  select(place)
  useView.getState().show(target)
  if (target !== 'timeline') return
  spanStart(run, kind, place).then(
    (timeNs) => {
      const now = useSelection.getState()
      // Whoever has selected something else meanwhile wants that.
      if (timeNs !== null && now.step === place.step && now.rank === place.rank) select({ timeNs })
    },
    (error: unknown) =>
      tell('error', `The span was not found: ${error instanceof Error ? error.message : String(error)}`),
  )
}
