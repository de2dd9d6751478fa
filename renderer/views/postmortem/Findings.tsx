import { useEffect } from 'react'
import type { Diagnosis } from '../../../app/diagnosis/result.ts'
import { diagnosisText, VERDICTS } from '../../../app/diagnosis/text.ts'
import { faultNamed } from '../../../app/faults/index.ts'
import { formatInt } from '../../drawing/format.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { type Diagnosed, useDiagnosis } from '../../state/diagnosis.ts'
import { useSession } from '../../state/session.ts'
import { FindingCard } from './FindingCard.tsx'
import { nextText, VERDICT_TONES } from './findings.ts'
import type { Source } from './use-dump-view.ts'
import { useFindingsInspector } from './use-findings-inspector.ts'

/** What is wrong in the shown dump: the diagnosis, how far one in progress is, or the way to one. */
export const Findings = ({ source }: { readonly source: Source }) => {
  const { results, diagnose, cancel } = useDiagnosis()
  const desktop = useSession((s) => s.desktop)
  const captures = useSession((s) => s.openRun?.captures.length ?? 0)
  const key = source.isRun ? `${source.id} ${captures}` : source.id
  const result = results.get(key)
  const running = desktop?.diagnosis?.dump === source.id ? desktop.diagnosis : null
  const busy = desktop === null || desktop.activeRun !== null
  const start = (allRows: boolean): void => void diagnose(key, source.id, allRows)
  useEffect(() => {
    // Beside a run in progress it would take the time that is measured.
    if (result === undefined && running === null && !busy) void diagnose(key, source.id, false)
  }, [result, running, busy, key, source.id, diagnose])
  useFindingsInspector(result)
  if (running !== null)
    return (
      <div className="empty-state" aria-live="polite" data-testid="pm-diagnosing">
        <p>Looking for the cause in every step and layer …</p>
        <progress value={running.share} max={1} />
        <button type="button" className="button" data-testid="pm-cancel" onClick={cancel}>
          Cancel
        </button>
      </div>
    )
  if (result === undefined)
    return (
      <div className="empty-state">
        <p>
          {busy
            ? 'A run is in progress. A diagnosis beside it takes time that the run measures.'
            : 'The diagnosis begins …'}
        </p>
        {busy ? (
          <button type="button" className="button button-primary" onClick={() => start(false)}>
            Diagnose now
          </button>
        ) : null}
      </div>
    )
  return <Ended result={result} onAgain={start} />
}

interface EndedProps {
  readonly result: Diagnosed
  readonly onAgain: (allRows: boolean) => void
}

const Ended = ({ result, onAgain }: EndedProps) =>
  result.ok ? (
    <Result diagnosis={result.diagnosis} allRows={result.allRows} onAgain={onAgain} />
  ) : (
    <div className="empty-state" data-testid="pm-no-diagnosis">
      <p className="pm-bad selectable" role="alert">
        {result.message}
      </p>
      <button type="button" className="button button-primary" onClick={() => onAgain(false)}>
        Diagnose again
      </button>
    </div>
  )

interface ResultProps {
  readonly diagnosis: Diagnosis
  readonly allRows: boolean
  readonly onAgain: (allRows: boolean) => void
}

const Result = ({ diagnosis, allRows, onAgain }: ResultProps) => {
  const { verdict, findings, notChecked, information, inputIssues } = diagnosis
  return (
    <div className="pm-findings" data-testid="pm-findings">
      <header className={`pm-verdict pm-verdict-${VERDICT_TONES[verdict]}`}>
        <div>
          <h2 data-testid="pm-verdict" data-verdict={verdict}>
            {VERDICTS[verdict]}
          </h2>
          <p>{nextText(diagnosis)}</p>
        </div>
        <span className="pm-verdict-actions">
          {allRows ? (
            <span className="quiet">all rows were looked at</span>
          ) : (
            <button
              type="button"
              className="button"
              data-testid="pm-all-rows"
              title="Compare every query row with the reference, not a sample"
              onClick={() => onAgain(true)}
            >
              Look at all rows
            </button>
          )}
          <button type="button" className="button" onClick={() => onAgain(allRows)}>
            Diagnose again
          </button>
          <CopyButton
            text={diagnosisText(diagnosis)}
            what="the diagnosis as text"
            label="Text"
            className="button"
            testId="pm-copy-text"
          />
          <CopyButton
            text={JSON.stringify(diagnosis, null, 2)}
            what="the diagnosis as JSON"
            label="JSON"
            className="button"
            testId="pm-copy-json"
          />
        </span>
      </header>
      {findings.map((finding, i) => (
        <FindingCard key={finding.fault} finding={finding} place={i + 1} />
      ))}
      <Information information={information} />
      <NotChecked notChecked={notChecked} />
      <Issues issues={inputIssues} />
    </div>
  )
}

const Information = ({ information }: Pick<Diagnosis, 'information'>) =>
  information.length === 0 ? null : (
    <section aria-label="Worth knowing">
      <h3>Worth knowing</h3>
      <ul className="pm-information" data-testid="pm-information">
        {information.map(({ kind, message }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no state of their own
          <li key={i} className="selectable">
            <span className={kind === 'unexplained' ? 'badge badge-warn' : 'badge'}>{kind}</span> {message}
          </li>
        ))}
      </ul>
    </section>
  )

/** Problems of files that are listed. */
const ISSUES = 12

const Issues = ({ issues }: { readonly issues: Diagnosis['inputIssues'] }) =>
  issues.length === 0 ? null : (
    <section aria-label="Files">
      <h3>Files</h3>
      <ul className="pm-information" data-testid="pm-issues">
        {issues.slice(0, ISSUES).map(({ message }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no state of their own
          <li key={i} className="selectable">
            {message}
          </li>
        ))}
      </ul>
      {issues.length <= ISSUES ? null : (
        <p className="pm-lacking">
          and {formatInt(issues.length - ISSUES)} more, which “Files and questions” lists
        </p>
      )}
    </section>
  )

const NotChecked = ({ notChecked }: Pick<Diagnosis, 'notChecked'>) =>
  notChecked.length === 0 ? null : (
    <section aria-label="Not checked">
      <h3>
        Not checked{' '}
        <span className="quiet">known failures that these tensors can neither show nor exclude</span>
      </h3>
      <table className="pm-not-checked" data-testid="pm-not-checked">
        <tbody>
          {notChecked.map(({ fault, needs }) => (
            <tr key={fault}>
              <th scope="row" title={faultNamed(fault).summary}>
                {faultNamed(fault).title}
                <span className="quiet num"> {fault}</span>
              </th>
              <td className="selectable">needs {needs.join(', or ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
