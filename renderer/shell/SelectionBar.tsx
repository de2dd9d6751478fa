import { Fragment } from 'react'
import { SourceBadge } from '../controls/SourceBadge.tsx'
import { placedSource } from '../drawing/provenance.ts'
import { useDump } from '../state/dump.ts'
import { nameOf } from '../state/open.ts'
import { NO_SELECTION, useSelection } from '../state/selection.ts'
import { useSession } from '../state/session.ts'
import { ExportButton } from './export/ExportButton.tsx'
import { CloseIcon, HelpIcon } from './icons.tsx'
import { useLayout } from './layout.ts'
import { PARTS, valueText } from './selection-words.ts'

const ViewHelpButton = () => {
  const { viewHelpOpen, toggleViewHelp } = useLayout()
  return (
    <button
      type="button"
      className="button button-quiet selection-export"
      title="What this view shows, and its formula (F1)"
      aria-expanded={viewHelpOpen}
      data-testid="show-view-help"
      onClick={toggleViewHelp}
    >
      <HelpIcon /> About
    </button>
  )
}

/** The run, or without one the dump, that the selection is of. */
const useShownName = (): string => {
  const dump = useDump((s) => s.dump)
  const session = useSession()
  if (session.openRun !== null) return session.openRun.manifest.name
  return dump === null ? 'no run' : nameOf({ kind: 'dump', id: dump }, session)
}

/** The selection as breadcrumbs from the run inwards; each part can be let go, and all at once. */
export const SelectionBar = () => {
  const selection = useSelection()
  const name = useShownName()
  const placed = useSession((s) => (s.openRun === null ? undefined : placedSource(s.openRun.manifest)))
  const parts = PARTS.flatMap(({ key, word }) => {
    const value = selection[key]
    return value === null ? [] : [{ key, word, value }]
  })
  return (
    <div className="selection-row">
      <nav className="selection-bar" aria-label="Selection">
        <span className="selection-run">{name}</span>
        {parts.map(({ key, word, value }) => (
          <Fragment key={key}>
            <span className="selection-arrow" aria-hidden="true">
              ›
            </span>
            <button
              type="button"
              className="crumb"
              title={`Let go of ${word}`}
              data-testid={`crumb-${key}`}
              onClick={() => selection.select({ [key]: NO_SELECTION[key] })}
            >
              {word} <span className="num">{valueText(key, value)}</span>
              <SourceBadge source={key === 'timeNs' ? placed : undefined} />
            </button>
          </Fragment>
        ))}
        {parts.length === 0 ? <span className="quiet">nothing selected</span> : null}
        {parts.length === 0 ? null : (
          <button
            type="button"
            className="button button-quiet button-icon selection-clear"
            title="Clear the selection (Esc)"
            aria-label="Clear the selection"
            data-testid="clear-selection"
            onClick={selection.clear}
          >
            <CloseIcon />
          </button>
        )}
      </nav>
      <ViewHelpButton />
      <ExportButton />
    </div>
  )
}
