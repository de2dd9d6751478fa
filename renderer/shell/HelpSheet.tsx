import { useEffect, useRef } from 'react'
import { TERMS } from '../../app/help/glossary.ts'
import { ACTIONS } from './actions.ts'
import { CloseIcon } from './icons.tsx'
import { keyText } from './keys.ts'
import './help/help.css'
import { useLayout } from './layout.ts'
import { VIEW_KEYS } from './view-keys.ts'
import { VIEWS } from './views.ts'

const Entry = ({ title, keys }: { readonly title: string; readonly keys: readonly string[] }) => (
  <div className="help-entry">
    <dt>{title}</dt>
    <dd>
      {keys.map((key) => (
        <kbd key={key} className="kbd">
          {key}
        </kbd>
      ))}
    </dd>
  </div>
)

/** Every key, from the same tables that handle them, and every term. */
export const HelpSheet = () => {
  const showHelp = useLayout((s) => s.showHelp)
  const sheet = useRef<HTMLElement>(null)
  useEffect(() => sheet.current?.focus(), [])
  return (
    <section className="help panel" aria-label="Keys and terms" tabIndex={-1} ref={sheet} data-testid="help">
      <div className="help-head">
        <h2>Keys and terms</h2>
        <span className="quiet">by their place on the keyboard</span>
        <button
          type="button"
          className="button button-quiet button-icon"
          aria-label="Close"
          title="Close (Esc)"
          onClick={() => showHelp(false)}
        >
          <CloseIcon />
        </button>
      </div>
      <div className="help-columns">
        <div>
          <h3>Everywhere</h3>
          <dl>
            {ACTIONS.filter(({ keys }) => keys.length > 0).map(({ id, title, keys }) => (
              <Entry key={id} title={title} keys={keys.map(keyText)} />
            ))}
          </dl>
        </div>
        <div>
          {VIEWS.filter(({ id }) => VIEW_KEYS[id].length > 0).map(({ id, title }) => (
            <div key={id} className="help-view">
              <h3>{title}</h3>
              <dl>
                {VIEW_KEYS[id].map(({ keys, title: what }) => (
                  <Entry key={keys} title={what} keys={keys.split(' ')} />
                ))}
              </dl>
            </div>
          ))}
        </div>
      </div>
      <h3>Terms</h3>
      <dl className="glossary" data-testid="glossary">
        {TERMS.map(({ name, text }) => (
          <div key={name} className="glossary-term">
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
