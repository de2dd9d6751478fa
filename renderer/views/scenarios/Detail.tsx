import { useState } from 'react'
import { faultNamed } from '../../../app/faults/index.ts'
import type { Scenario } from '../../../app/scenarios/scenario.ts'
import { sourceAddress } from '../../controls/source-address.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { useBackendPick } from '../../state/backend-pick.ts'
import { useDump } from '../../state/dump.ts'
import { type Pair, type Side, useScenarios } from '../../state/scenarios.ts'
import { useSession } from '../../state/session.ts'
import { whyNotStart } from '../../state/start.ts'
import { useView } from '../../state/view.ts'
import { Compare } from './Compare.tsx'
import { backendOf, type Cell, sharedRange, worstCell } from './model.ts'
import { Picture } from './Picture.tsx'
import { useScenarioInspector } from './use-inspector.ts'
import { useCapture, useSideModel } from './use-side.ts'

/** One scenario: what it is, where it goes wrong, and its two runs beside each other. */
export const Detail = ({ scenario, pair }: { readonly scenario: Scenario; readonly pair: Pair }) => {
  const [picked, setPicked] = useState<Cell | null>(null)
  const broken = useCapture(pair.broken)
  const fixed = useCapture(pair.fixed)
  const cell = picked ?? (broken.capture === null ? null : worstCell(broken.capture))
  const brokenModel = useSideModel(broken, cell)
  const fixedModel = useSideModel(fixed, cell)
  useScenarioInspector(scenario, broken, fixed)
  const error = broken.error ?? fixed.error
  return (
    <div className="scenario-detail">
      <header>
        <h2>{scenario.title}</h2>
        <p className="scenario-facts">
          <code className="selectable">{scenario.fault}</code>
          <button
            type="button"
            className="scenario-backend"
            title="What this back-end computes, accepts and refuses"
            data-testid="scenario-backend"
            onClick={() => {
              useBackendPick.getState().pick(null, backendOf(scenario))
              useView.getState().show('backends')
            }}
          >
            {backendOf(scenario)}
          </button>
          <span className="selectable">{scenario.source}</span>
          <CopyButton text={sourceAddress(scenario.source)} what="the source" />
        </p>
      </header>
      <p className="scenario-text selectable">{scenario.explanation}</p>
      <Picture scenario={scenario} />
      <p className="scenario-text">
        <b>Expected diagnosis:</b>{' '}
        {scenario.diagnosis === null
          ? 'nothing wrong, only something to know'
          : faultNamed(scenario.diagnosis).title}
        {scenario.harmless === true ? '; the outputs are right all the same' : ''}
        {scenario.onDraft === true ? '; the model is right, and fewer tokens of its draft are accepted' : ''}.
      </p>
      <Actions scenario={scenario} pair={pair} />
      {error === null ? null : (
        <p className="scenario-error selectable" role="alert">
          {error}
        </p>
      )}
      {pair.broken === null || pair.fixed === null ? null : (
        <Compare
          sides={{
            broken: { ...broken, model: brokenModel },
            fixed: { ...fixed, model: fixedModel },
          }}
          range={sharedRange([broken.capture, fixed.capture])}
          cell={cell}
          onPick={setPicked}
        />
      )}
    </div>
  )
}

/** Opens a run of the scenario and shows it in a view. */
const show = async (run: string, to: 'postmortem' | 'merge'): Promise<void> => {
  await useSession.getState().openRunById(run)
  useDump.getState().show(null)
  useDump.getState().look('findings')
  useView.getState().show(to)
}

const Actions = ({ scenario, pair }: { readonly scenario: Scenario; readonly pair: Pair }) => {
  const { run, running } = useScenarios()
  const desktop = useSession((s) => s.desktop)
  const reason = whyNotStart(desktop, 0)
  const own = running?.scenario === scenario.name ? running.side : null
  const ran = pair.broken !== null && pair.fixed !== null
  return (
    <p className="scenario-actions">
      <button
        type="button"
        className={ran ? 'button' : 'button button-primary'}
        disabled={running !== null || reason !== null}
        title={reason ?? 'Two small runs on this machine; both bundles are kept (R)'}
        data-testid="scenario-run"
        onClick={() => void run(scenario)}
      >
        {ran ? 'Run broken and fixed again' : 'Run broken and fixed'}
      </button>
      {own === null ? null : (
        <span className="quiet" aria-live="polite">
          running {own} …
        </span>
      )}
      {(['broken', 'fixed'] as const).map((side: Side) => {
        const id = pair[side]
        return id === null ? null : (
          <button
            key={side}
            type="button"
            className="button"
            data-testid={`scenario-open-${side}`}
            title={`Opens the ${side} run and looks for the cause`}
            onClick={() => void show(id, 'postmortem')}
          >
            Diagnose {side}
          </button>
        )
      })}
      {pair.broken === null ? null : (
        <button
          type="button"
          className="button"
          onClick={() => pair.broken !== null && void show(pair.broken, 'merge')}
        >
          Merge of broken
        </button>
      )}
    </p>
  )
}
