import { type ReactNode, useState } from 'react'
import { formatInt } from '../drawing/format.ts'
import { CopyButton } from '../shell/CopyButton.tsx'

/** A rule that must hold, and whether it does. */
export interface LightCheck {
  readonly name: string
  readonly rule: string
  readonly state: 'holds' | 'broken' | 'unknown'
  /** What breaks it. */
  readonly count: number
  readonly detail: string
  /** What stands beside the rule whatever its state; empty for most. */
  readonly note?: string
}

const SIGNS: Readonly<Record<LightCheck['state'], string>> = { holds: '✓', broken: '✗', unknown: '–' }
const WORDS: Readonly<Record<LightCheck['state'], string>> = {
  holds: 'holds',
  broken: 'broken',
  unknown: 'not known',
}

interface Props<C extends LightCheck> {
  readonly checks: readonly C[]
  /** What must hold, for those who do not see it. */
  readonly label: string
  /** Prefix of the test ids. */
  readonly testId: string
  /** Whether there is a place to show for it. */
  readonly leads: (check: C) => boolean
  readonly onShow: (check: C) => void
  /** What stands behind them. */
  readonly children?: ReactNode
}

/** What must hold, as lights; one that does not leads to the first place that breaks it, and says what does. */
export const Lights = <C extends LightCheck>({
  checks,
  label,
  testId,
  leads,
  onShow,
  children,
}: Props<C>) => {
  const [asked, setAsked] = useState<string | null>(null)
  const told = checks.find(({ name, state }) => name === asked && state === 'broken')
  const show = (check: C): void => {
    setAsked(check.name)
    onShow(check)
  }
  return (
    <>
      <div className="lights">
        <ul aria-label={label}>
          {checks.map((check) => (
            <li key={check.name}>
              <Light
                check={check}
                testId={`${testId}-${check.name}`}
                onShow={leads(check) ? () => show(check) : null}
              />
            </li>
          ))}
        </ul>
        {children}
      </div>
      {told === undefined ? null : (
        <p className="light-detail" role="status" data-testid={`${testId}-detail`}>
          <span className="selectable">
            {told.rule}: {told.detail}
          </span>
          <CopyButton text={`${told.rule}: ${told.detail}`} what="what breaks it" />
        </p>
      )}
    </>
  )
}

interface LightProps {
  readonly check: LightCheck
  readonly testId: string
  readonly onShow: (() => void) | null
}

const Light = ({ check, testId, onShow }: LightProps) => {
  const { rule, state, count, detail, note = '' } = check
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
  const look = `light light-${state}`
  return onShow === null ? (
    <span className={look} title={detail} data-testid={testId} data-state={state}>
      {content}
    </span>
  ) : (
    <button
      type="button"
      className={look}
      title={`${detail}; click to see it`}
      data-testid={testId}
      data-state={state}
      onClick={onShow}
    >
      {content}
    </button>
  )
}
