import { type RefObject, useEffect, useRef } from 'react'
import type { Scenario } from '../../../app/scenarios/scenario.ts'
import { pairOf, useScenarios } from '../../state/scenarios.ts'
import { useSession } from '../../state/session.ts'
import { backendOf } from './model.ts'

interface Props {
  readonly shown: readonly Scenario[]
  readonly picked: string | null
  readonly filter: RefObject<HTMLInputElement | null>
}

/** Every scenario in a line of two: what, and where it was seen. */
export const Gallery = ({ shown, picked, filter }: Props) => {
  const { words, filter: change, pick } = useScenarios()
  return (
    <div className="scenario-gallery">
      <input
        ref={filter}
        className="input"
        type="search"
        placeholder="Filter (/)"
        aria-label="Filter scenarios"
        data-testid="scenario-filter"
        value={words}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' && event.key !== 'Enter') return
          if (event.key === 'Escape') change('')
          event.currentTarget.blur()
          event.preventDefault()
          event.stopPropagation()
        }}
      />
      <div className="scenario-list">
        {shown.map((scenario) => (
          <Item
            key={scenario.name}
            scenario={scenario}
            picked={scenario.name === picked}
            onPick={() => pick(scenario.name)}
          />
        ))}
      </div>
    </div>
  )
}

interface ItemProps {
  readonly scenario: Scenario
  readonly picked: boolean
  readonly onPick: () => void
}

const Item = ({ scenario, picked, onPick }: ItemProps) => {
  const runs = useSession((s) => s.runs)
  const button = useRef<HTMLButtonElement>(null)
  const { broken, fixed } = pairOf(runs, scenario.name)
  useEffect(() => {
    if (picked) button.current?.scrollIntoView({ block: 'nearest' })
  }, [picked])
  return (
    <button
      ref={button}
      type="button"
      className="scenario-item"
      aria-pressed={picked}
      title={scenario.explanation}
      data-testid={`scenario-${scenario.name}`}
      onClick={onPick}
    >
      <span className="scenario-item-title">{scenario.title}</span>
      <span className="scenario-item-note">
        {backendOf(scenario)} · {scenario.source}
      </span>
      {broken !== null && fixed !== null ? <span className="badge badge-ok">has runs</span> : null}
    </button>
  )
}
