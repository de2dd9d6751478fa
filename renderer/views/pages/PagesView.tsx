import '../../controls/controls.css'
import './pages.css'
import { memo, useRef } from 'react'
import { Lights } from '../../controls/Lights.tsx'
import { NothingOfSweep } from '../../controls/NothingOfSweep.tsx'
import { useSession } from '../../state/session.ts'
import { useView } from '../../state/view.ts'
import { Legend } from './Legend.tsx'
import { useLook } from './look.ts'
import { PagesCanvas } from './PagesCanvas.tsx'
import { PageTables } from './PageTables.tsx'
import { Toolbar } from './Toolbar.tsx'
import { useSelectedCell } from './use-cell.ts'
import { usePagesInspector } from './use-inspector.ts'
import { type Pages, type PagesState, usePages } from './use-pages.ts'
import { showCheck, usePagesKeys } from './use-pages-keys.ts'

/** The block table of a rank at a step beside its pool of pages, and what is wrong with it. */
export const PagesView = () => {
  const state = usePages()
  switch (state.kind) {
    case 'nothing':
      return <Nothing />
    case 'sweep':
      return <NothingOfSweep lacks="no block tables" />
    case 'waiting':
    case 'lacking':
      return <Missing state={state} />
    case 'shown':
      return <Shown pages={state.pages} />
  }
}

/** Drawn anew where what is shown has changed, which it has not yet when another step is selected. */
const Shown = memo(({ pages }: { readonly pages: Pages }) => {
  const { shown, summary } = pages
  const { asTable, mode } = useLook()
  const goTo = useRef<HTMLInputElement>(null)
  const selected = useSelectedCell(pages)
  usePagesKeys(pages, selected, goTo)
  usePagesInspector(pages, selected)
  return (
    <section className="pages" aria-label="Pages">
      <Toolbar shown={shown} pages={pages} request={selected.request} goTo={goTo} />
      <Lights
        checks={summary.checks}
        label="What must hold of this block table"
        testId="pages-light"
        leads={({ first }) => first !== null}
        onShow={(check) => showCheck(shown.rank, check)}
      />
      {asTable ? (
        <PageTables pages={pages} selected={selected} />
      ) : (
        <>
          <PagesCanvas pages={pages} selected={selected} />
          <Legend mode={mode} hasAges={summary.taken !== null} />
        </>
      )}
    </section>
  )
})

const Missing = ({ state }: { readonly state: Extract<PagesState, { kind: 'waiting' | 'lacking' }> }) => {
  const goTo = useRef<HTMLInputElement>(null)
  const show = useView((s) => s.show)
  return (
    <section className="pages" aria-label="Pages">
      <Toolbar shown={state.kind === 'lacking' ? state.shown : null} pages={null} request={0} goTo={goTo} />
      <div className="empty-state" data-testid={`pages-${state.kind}`} aria-live="polite">
        <p className="selectable">{state.text}</p>
        {state.kind === 'lacking' ? (
          <button type="button" className="button button-primary" onClick={() => show('postmortem')}>
            See what the dump has in Post-mortem
          </button>
        ) : null}
      </div>
    </section>
  )
}

/** Nothing is open: what the view shows, and the ways to it. */
const Nothing = () => {
  const show = useView((s) => s.show)
  const openDump = useSession((s) => s.openDump)
  return (
    <div className="empty-state" data-testid="pages-nothing">
      <p>
        The block table of a rank says which physical page holds each virtual page of a request; this view
        shows it beside the pool that the pages come from, and what is wrong with it.
      </p>
      <p className="quiet">Runs record their tables; dumps have them where block_table was recorded.</p>
      <div className="pages-choices">
        <button type="button" className="button button-primary" onClick={() => show('run')}>
          Go to Run
        </button>
        <button type="button" className="button" onClick={() => void openDump('files')}>
          Open dump files…
        </button>
      </div>
    </div>
  )
}
