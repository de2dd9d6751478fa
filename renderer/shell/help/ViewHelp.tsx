import { useEffect, useRef } from 'react'
import { useView, VIEW_TITLES } from '../../state/view.ts'
import { CloseIcon } from '../icons.tsx'
import { useLayout } from '../layout.ts'
import { LETTERS, VIEW_TEXTS } from './texts.tsx'

/** What the shown view is, with its formula; above the view, so that both are seen. */
export const ViewHelp = () => {
  const view = useView((s) => s.view)
  const toggle = useLayout((s) => s.toggleViewHelp)
  const { text, formulas } = VIEW_TEXTS[view]
  const box = useRef<HTMLElement>(null)
  useEffect(() => box.current?.focus(), [])
  return (
    <section
      ref={box}
      className="view-help"
      aria-label={`About ${VIEW_TITLES[view]}`}
      tabIndex={-1}
      data-testid="view-help"
    >
      <p>{text}</p>
      {formulas.length === 0 ? null : (
        <div className="view-formulas">
          <dl>
            {formulas.map(({ says, formula }) => (
              <div key={says}>
                <dt>{says}</dt>
                <dd className="formula">{formula}</dd>
              </div>
            ))}
          </dl>
          <p className="quiet view-letters">
            {LETTERS.map(([letter, means]) => (
              <span key={letter}>
                <var>{letter}</var> {means}
              </span>
            ))}
          </p>
        </div>
      )}
      <button
        type="button"
        className="button button-quiet button-icon"
        aria-label="Close"
        title="Close (F1)"
        onClick={toggle}
      >
        <CloseIcon />
      </button>
    </section>
  )
}
