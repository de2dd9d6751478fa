import { useRef, useState } from 'react'
import { NumberField } from '../../controls/NumberField.tsx'
import { RankChip } from '../../controls/RankChip.tsx'
import { formatInt } from '../../drawing/format.ts'
import { useDump } from '../../state/dump.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { COLOUR_MODES, type ColourMode, useLook } from './look.ts'
import { pageFromText } from './moves.ts'
import { type Shown, sourceText } from './source.ts'
import { pick, rankNow, wantedRank } from './use-cell.ts'
import type { Pages } from './use-pages.ts'

const MODES: Readonly<Record<ColourMode, string>> = {
  owner: 'the request that owns a page',
  age: 'the step at which a page was taken',
  fill: 'the share of its slots that hold keys of this rank',
}

interface Props {
  readonly shown: Shown | null
  readonly pages: Pages | null
  readonly request: number
  readonly goTo: React.RefObject<HTMLInputElement | null>
}

/** Whose block table is shown, and how. */
export const Toolbar = ({ shown, pages, request, goTo }: Props) => (
  <div className="toolbar pages-toolbar" role="toolbar" aria-label="Pages">
    <SourcePick />
    {shown === null ? null : <Kind shown={shown} />}
    {shown === null ? null : <RankPick shown={shown} />}
    {pages === null ? null : (
      <>
        <NumberField
          label="request"
          value={request}
          min={0}
          max={pages.summary.requests - 1}
          digits={4}
          unit={`of ${formatInt(pages.summary.requests)}`}
          testId="pages-request"
          onChange={(to) =>
            pick(rankNow(pages.shown), {
              request: Math.min(Math.max(0, Math.trunc(to)), pages.summary.requests - 1),
              column: 0,
            })
          }
        />
        <GoToPage extent={pages.summary.extent} field={goTo} />
        <Colours hasAges={pages.summary.taken !== null} />
        <TableSwitch />
      </>
    )}
  </div>
)

/** The open run, or one of the dumps that were opened. */
const SourcePick = () => {
  const run = useSession((s) => s.openRun)
  const dumps = useSession((s) => s.desktop?.dumps) ?? []
  const { dump, show } = useDump()
  if (dumps.length === 0 && dump === null) return null
  return (
    <select
      className="input pages-source"
      aria-label="Source"
      data-testid="pages-source"
      value={dump ?? ''}
      onChange={(event) => show(event.target.value === '' ? null : event.target.value)}
    >
      <option value="">{run === null ? 'no run' : run.manifest.name}</option>
      {dump === null || dumps.some(({ id }) => id === dump) ? null : <option value={dump}>Dump</option>}
      {dumps.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** Of a step that was captured: what the kernels got, or what the run kept. */
const Kind = ({ shown }: { readonly shown: Shown }) => {
  const change = useLook((s) => s.change)
  return (
    <>
      {shown.both ? (
        <fieldset className="pages-choice">
          <legend className="visually-hidden">Which block table</legend>
          <button
            type="button"
            className="button"
            aria-pressed={shown.kind === 'captured'}
            title="The block table that the kernels got at this step, from its captured tensors"
            data-testid="pages-captured"
            onClick={() => change({ recorded: false })}
          >
            Captured
          </button>
          <button
            type="button"
            className="button"
            aria-pressed={shown.kind === 'recorded'}
            title="The block table that the run kept, recorded at every step"
            data-testid="pages-recorded"
            onClick={() => change({ recorded: true })}
          >
            Recorded
          </button>
        </fieldset>
      ) : null}
      <span className="pages-note" data-testid="pages-from">
        {sourceText(shown)}
      </span>
    </>
  )
}

const RankPick = ({ shown }: { readonly shown: Shown }) => {
  const select = useSelection((s) => s.select)
  const rank = useSelection((s) => wantedRank(shown, s.rank))
  return (
    <span className="pages-rank">
      <RankChip rank={rank} />
      <NumberField
        label="rank"
        value={rank}
        min={0}
        max={shown.ranks - 1}
        digits={2}
        unit={`of ${shown.ranks}`}
        testId="pages-rank"
        onChange={(to) => select({ rank: Math.min(Math.max(0, Math.trunc(to)), shown.ranks - 1) })}
      />
    </span>
  )
}

const GoToPage = ({
  extent,
  field,
}: {
  readonly extent: number
  readonly field: React.RefObject<HTMLInputElement | null>
}) => {
  const [text, setText] = useState('')
  const select = useSelection((s) => s.select)
  const page = pageFromText(text, extent)
  const isWrong = text.trim() !== '' && page === null
  const form = useRef<HTMLFormElement>(null)
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        if (page === null) return
        select({ page, token: null })
        field.current?.blur()
      }}
    >
      <input
        ref={field}
        className="input num pages-goto"
        type="text"
        inputMode="numeric"
        placeholder="go to page"
        aria-label="Go to page"
        aria-invalid={isWrong}
        title={isWrong ? `must be a page from 0 to ${extent - 1}` : 'Physical page; Enter goes there (G)'}
        data-testid="pages-goto"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          setText('')
          event.currentTarget.blur()
          event.stopPropagation()
        }}
      />
    </form>
  )
}

const Colours = ({ hasAges }: { readonly hasAges: boolean }) => {
  const { mode, change } = useLook()
  return (
    <fieldset className="pages-choice">
      <legend className="visually-hidden">Colour by</legend>
      {COLOUR_MODES.map((one) => (
        <button
          key={one}
          type="button"
          className="button"
          aria-pressed={mode === one}
          disabled={one === 'age' && !hasAges}
          title={
            one === 'age' && !hasAges
              ? 'Nothing says at which step pages were taken'
              : `Colour by ${MODES[one]} (C)`
          }
          data-testid={`pages-mode-${one}`}
          onClick={() => change({ mode: one })}
        >
          {one === 'owner' ? 'Owner' : one === 'age' ? 'Age' : 'Fill'}
        </button>
      ))}
    </fieldset>
  )
}

const TableSwitch = () => {
  const { asTable, change } = useLook()
  return (
    <button
      type="button"
      className="button"
      aria-pressed={asTable}
      title="Tables in place of the picture (T)"
      data-testid="pages-as-table"
      onClick={() => change({ asTable: !asTable })}
    >
      Table
    </button>
  )
}
