import type { RunInfo } from '../../../app/protocol/store.ts'
import { isUnfinished } from '../../../app/sweep/manifest.ts'
import { type Axis, arrangementName, otherAxis } from '../../../app/sweep/spots.ts'
import type { Frontier, Group, ModelError, Regime } from '../../../app/sweep/summary.ts'
import { reasonLines, winnersText } from '../../../app/sweep/words.ts'
import { SourceBadge } from '../../controls/SourceBadge.tsx'
import { formatBytes, formatInt, formatPercent } from '../../drawing/format.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import type { Progress } from './model.ts'
import { axisText, errorText, goOnCommand, paysText, regimeText } from './words.ts'

/** From where DCP pays, one line a value of the held axis. */
const Pays = ({ held, frontiers }: { readonly held: Axis; readonly frontiers: readonly Frontier[] }) => (
  <ul>
    {frontiers.map((frontier) => (
      <li key={frontier.at} data-testid={`pays-${held}-${frontier.at}`}>
        <span className="summary-at">
          {held} <span className="num">{axisText(held, frontier.at)}</span>
        </span>{' '}
        {paysText(otherAxis(held), frontier)}
      </li>
    ))}
  </ul>
)

const Regimes = ({ regimes }: { readonly regimes: readonly Regime[] }) => (
  <ul>
    {regimes.map((regime) => (
      <li key={`${arrangementName(regime)} ${regime.limit}`}>
        <span className="summary-at">{arrangementName(regime)}</span> {regimeText(regime)}
      </li>
    ))}
  </ul>
)

const Reasons = ({
  word,
  points,
}: {
  readonly word: string
  readonly points: readonly { readonly key: string; readonly reason: string }[]
}) => (
  <>
    {reasonLines(points).map(({ text, keys }) => (
      <p key={text} className="selectable" title={keys.join('\n')}>
        <span className="summary-at">{word}</span> {text}
      </p>
    ))}
  </>
)

/** How far the sweep is, what it lacks, and how to go on with it. */
export const ProgressNote = ({ run, progress }: { readonly run: RunInfo; readonly progress: Progress }) => {
  const { points, measured, missing, leftOut, unpredicted, memory } = progress
  const { manifest } = run
  const held = missing.filter(({ why }) => why === 'memory')
  const failed = missing.filter(({ why }) => why === 'failed')
  const goesOn = isUnfinished(manifest)
  const command = goOnCommand(manifest.name)
  return (
    <section className="throughput-part" aria-label="Completeness">
      <h3>
        Points
        <span className="field-unit num" data-testid="sweep-measured" data-value={measured}>
          {formatInt(measured)} of {formatInt(points)} measured
        </span>
      </h3>
      {manifest.error === undefined ? null : (
        <p className="throughput-error selectable" role="status">
          {manifest.error}
        </p>
      )}
      <Reasons word="not held:" points={held} />
      <Reasons word="failed:" points={failed} />
      <Reasons word="left out:" points={leftOut} />
      {unpredicted === 0 ? null : (
        <p>
          <span className="summary-at">unpredicted:</span> {formatInt(unpredicted)} of {formatInt(points)}{' '}
          points; runs that tell the rates failed, which only a new sweep makes again
        </p>
      )}
      {manifest.status === 'running' ? (
        <p>The sweep is being measured; what is new is read every two seconds.</p>
      ) : goesOn ? (
        <div className="throughput-go-on">
          <p>
            {failed.length > 0 ? 'What failed is tried again' : 'Not complete. It goes on'} by Resume, or in
            the folder of its bundle by
            <code className="selectable" data-testid="go-on">
              {command}
            </code>
            <CopyButton text={command} what="the command" />
          </p>
        </div>
      ) : null}
      <p className="quiet">
        KV pools: {formatBytes(memory.bytes)} a GPU, of which {formatPercent(memory.utilisation)} is used;{' '}
        {memory.weightBytes === 0
          ? 'no weights counted'
          : `weights ${formatBytes(memory.weightBytes)} a rank`}
      </p>
    </section>
  )
}

interface Props {
  readonly group: Group | null
  readonly source: string | undefined
  readonly modelError: ModelError | null
}

/** What the sweep says, in words. */
export const Summary = ({ group, source, modelError }: Props) => (
  <section className="throughput-part throughput-summary" aria-label="Summary" data-testid="sweep-summary">
    <h3>
      Does DCP pay <SourceBadge source={source} />
    </h3>
    {group === null || group.cells.length === 0 ? (
      <p className="quiet">
        Nothing to compare yet: no context and concurrency has the TP baseline and a DCP point.
      </p>
    ) : (
      <>
        <p>
          <span className="summary-at">Best:</span> <span data-testid="sweep-best">{winnersText(group)}</span>
        </p>
        <div className="summary-columns">
          <div>
            <h4>By context</h4>
            <Pays held="context" frontiers={group.byContext} />
          </div>
          <div>
            <h4>By concurrency</h4>
            <Pays held="concurrency" frontiers={group.byConcurrency} />
          </div>
        </div>
      </>
    )}
    {group === null || group.regimes.length === 0 ? null : (
      <div>
        <h4>
          Limited by <SourceBadge source="predicted" />
        </h4>
        <Regimes regimes={group.regimes} />
      </div>
    )}
    <div>
      <h4>Cost model</h4>
      <p data-testid="model-error">
        {modelError === null ? 'No point has both a measurement and a prediction.' : errorText(modelError)}
      </p>
    </div>
  </section>
)
