import type { StoreResult } from '../../../app/protocol/store.ts'
import { formatInt } from '../../drawing/format.ts'

export type Check = StoreResult<'pageSummary'>['checks'][number]

const SIGNS: Readonly<Record<Check['state'], string>> = { holds: '✓', broken: '✗', unknown: '–' }
const WORDS: Readonly<Record<Check['state'], string>> = {
  holds: 'holds',
  broken: 'broken',
  unknown: 'not known',
}

/** What must hold of the block table; one that does not leads to the first cell that breaks it. */
export const Lights = ({
  checks,
  onShow,
}: {
  readonly checks: readonly Check[]
  readonly onShow: (check: Check) => void
}) => (
  <ul className="pages-lights" aria-label="What must hold of this block table">
    {checks.map((check) => (
      <li key={check.name}>
        <Light check={check} onShow={onShow} />
      </li>
    ))}
  </ul>
)

const Light = ({ check, onShow }: { readonly check: Check; readonly onShow: (check: Check) => void }) => {
  const { name, rule, state, count, detail, first, note } = check
  const content = (
    <>
      <span aria-hidden="true">{SIGNS[state]}</span>
      <span>
        {rule}
        <span className="visually-hidden">: {WORDS[state]}</span>
      </span>
      {note === '' ? null : <span className="num">{note}</span>}
      {state === 'broken' ? <b className="num">{formatInt(count)}</b> : null}
    </>
  )
  const look = `pages-light pages-light-${state}`
  return first === null ? (
    <span className={look} title={detail} data-testid={`pages-light-${name}`} data-state={state}>
      {content}
    </span>
  ) : (
    <button
      type="button"
      className={look}
      title={`${detail}; click to see it`}
      data-testid={`pages-light-${name}`}
      data-state={state}
      onClick={() => onShow(check)}
    >
      {content}
    </button>
  )
}
