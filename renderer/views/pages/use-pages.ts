import { useRef, useState } from 'react'
import type { Paging } from '../../../app/dcp/types.ts'
import type { PageSource, StoreResult } from '../../../app/protocol/store.ts'
import { useDump } from '../../state/dump.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { useMoveOn, type Wanted } from '../../state/use-move-on.ts'
import { useLook } from './look.ts'
import { type Shown, shownOfDump, shownOfRun } from './source.ts'

export type Summary = StoreResult<'pageSummary'>

/** A block table that is shown, and what is known of it as a whole. */
export interface Pages {
  readonly shown: Shown
  readonly summary: Summary
  /** Null where no page size is known. Of a request: pagingFor. */
  readonly paging: Paging | null
  /** Changes when the same question may have another answer. */
  readonly again: string
}

/** How the tokens of a request are dealt out to pages; null where no page size is known. */
export const pagingFor = ({ paging, summary }: Pages, request: number): Paging | null =>
  paging === null ? null : { ...paging, prompt: summary.prompts?.[request] }

export type PagesState =
  /** Neither a run nor a dump is open. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'sweep' }
  | { readonly kind: 'waiting'; readonly text: string }
  | { readonly kind: 'lacking'; readonly text: string; readonly shown: Shown | null }
  | { readonly kind: 'shown'; readonly pages: Pages }

const useWanted = (): { readonly shown: Shown | null; readonly state: PagesState | null } => {
  const run = useSession((s) => s.openRun)
  const dump = useDump((s) => s.dump)
  const step = useSelection((s) => s.step)
  const layer = useSelection((s) => s.layer)
  const rank = useSelection((s) => s.rank)
  const recorded = useLook((s) => s.recorded)
  const info = useAnswer('dumpInfo', dump === null ? null : { dump })
  const none = (state: PagesState) => ({ shown: null, state })
  if (dump !== null) {
    if (info.error !== null) return none({ kind: 'lacking', text: info.error, shown: null })
    if (info.answer === null || info.answer.params.dump !== dump)
      return none({ kind: 'waiting', text: 'Reading the headers of the dump …' })
    const shown = shownOfDump(dump, info.answer.data.groups, { step, layer, rank })
    return shown === null
      ? none({
          kind: 'lacking',
          text: 'No file of this dump can be used; Post-mortem says why.',
          shown: null,
        })
      : { shown, state: null }
  }
  if (run === null) return none({ kind: 'nothing' })
  if (run.manifest.sweep !== undefined) return none({ kind: 'sweep' })
  const ranks = run.manifest.config.parallel.dcpSize
  const shown = shownOfRun({ ...run, ranks }, { step, layer, rank }, recorded)
  return shown === null ? none({ kind: 'waiting', text: 'The run has no step yet.' }) : { shown, state: null }
}

const keyOf = (shown: Shown | null): string => JSON.stringify(shown)

const wantedBeside = (asked: Shown | null, wanted: Shown | null): Wanted => {
  if (keyOf(asked) === keyOf(wanted)) return 'same'
  const isSameTable = asked?.rank === wanted?.rank && asked?.kind === wanted?.kind
  return isSameTable ? 'otherStep' : 'other'
}

const ownerOf = ({ source }: Shown): string => ('run' in source ? source.run : source.dump)

/** What the view shows of what is open, for what is selected. */
export const usePages = (): PagesState => {
  const { shown: wanted, state } = useWanted()
  const again = useSession((s) => s.openRun?.manifest.status ?? '')
  const [asked, setAsked] = useState(wanted)
  const { answer, error, loading } = useAnswer(
    'pageSummary',
    asked === null ? null : { source: asked.source },
    again,
  )
  useMoveOn(!loading, wantedBeside(asked, wanted), () => setAsked(wanted))
  // Until the answer for another step is there, the table of the last one stays.
  const last = useRef<Pages | null>(null)
  if (answer !== null && asked !== null && sameSource(answer.params.source, asked.source)) {
    const { page, dcp, interleave } = answer.data
    const paging = page === null ? null : { page, dcp, interleave }
    if (last.current?.summary !== answer.data || keyOf(last.current.shown) !== keyOf(asked))
      last.current = { shown: asked, summary: answer.data, paging, again }
  }
  if (state !== null) return state
  if (error !== null) return { kind: 'lacking', text: error, shown: asked }
  return last.current === null || wanted === null || ownerOf(last.current.shown) !== ownerOf(wanted)
    ? { kind: 'waiting', text: 'Reading the block table …' }
    : { kind: 'shown', pages: last.current }
}

const sameSource = (a: PageSource, b: PageSource): boolean => JSON.stringify(a) === JSON.stringify(b)
