import '../../controls/controls.css'
import './compare.css'
import { TEST_ASSUMPTIONS } from '../../../app/compare/text.ts'
import { NothingOfSweep } from '../../controls/NothingOfSweep.tsx'
import { useCompare } from '../../state/compare.ts'
import { Differences } from './Differences.tsx'
import { configHeadline, type Headline, numberHeadline, timeHeadline } from './model.ts'
import { NothingToCompare } from './NothingToCompare.tsx'
import { Numbers } from './Numbers.tsx'
import { RankTimes, StageTimes } from './StageTimes.tsx'
import { StepPicture } from './StepPicture.tsx'
import { Toolbar } from './Toolbar.tsx'
import { type Comparison, type Sides, useComparison, useSides } from './use-compare.ts'
import { useCompareKeys } from './use-compare-keys.ts'
import { useCompareInspector } from './use-inspector.ts'

/** Two runs or two dumps: what they were asked, where their numbers diverge first, which stage changed and by how much. */
export const CompareView = () => {
  const sides = useSides()
  return sides.a === null || sides.b === null ? (
    <NothingToCompare shown={sides.a} />
  ) : (
    <OfBoth key={`${sides.a.id} ${sides.b.id}`} sides={sides} />
  )
}

const OfBoth = ({ sides }: { readonly sides: Sides }) => {
  const found = useComparison(sides)
  const { info, differences, unlike, times, rows, tensors, loading, share, error, again } = found
  const measure = useCompare((s) => s.measure)
  useCompareKeys(sides, found)
  useCompareInspector(found)
  if (info.a?.manifest.sweep !== undefined) return <NothingOfSweep lacks="no steps to compare" />
  return (
    <section className="compare-view" aria-label="Compare" aria-busy={loading}>
      <Toolbar sides={sides} found={found} />
      {error === null ? null : (
        <p className="compare-error selectable" role="alert">
          {info.b?.manifest.sweep === undefined
            ? error
            : `${info.b.manifest.name} is a sweep, which holds no steps. Choose a run as B.`}{' '}
          <button type="button" className="button" onClick={again}>
            Try again
          </button>
        </p>
      )}
      <Headlines found={found} />
      {loading && share !== null ? (
        <progress className="compare-progress" value={share} aria-label="How much is compared" />
      ) : null}
      <div className="compare-body">
        <div className="compare-column">
          <Differences differences={differences} unlike={unlike} />
          <Numbers sides={sides} rows={rows} tensors={tensors} loading={loading} />
        </div>
        {sides.a?.kind !== 'run' || sides.b?.kind !== 'run' ? null : (
          <section className="compare-column" aria-label="Times">
            <h3>
              Times of a step
              <span className="compare-note" title={TEST_ASSUMPTIONS}>
                {times === null || times.steps === 0
                  ? ''
                  : `${times.steps} steps that both have, mean of the ranks`}
              </span>
            </h3>
            {times === null ? (
              <p className="compare-note">{error === null ? 'Comparing the times …' : ''}</p>
            ) : times.steps === 0 ? (
              <p className="compare-note" data-testid="compare-no-steps">
                Both have no step in common whose time counts. Run both with as many steps.
              </p>
            ) : (
              <>
                <StageTimes times={times} />
                <StepPicture times={times} measure={measure} />
                <RankTimes times={times} measure={measure} />
                <p className="compare-note compare-assumptions">{TEST_ASSUMPTIONS}</p>
              </>
            )}
          </section>
        )}
      </div>
    </section>
  )
}

const Headlines = ({
  found: { differences, times, rows, tensors, loading },
}: {
  readonly found: Comparison
}) => {
  const lines: readonly [string, Headline | null][] = [
    ['Configuration', differences === null ? null : configHeadline(differences)],
    ['Numbers', loading && tensors === null ? null : numberHeadline(rows, tensors)],
    ['Times', times === null ? null : timeHeadline(times)],
  ]
  return (
    <dl className="compare-headlines" data-testid="compare-headlines">
      {lines.map(([word, line]) =>
        line === null ? null : (
          <div key={word}>
            <dt>{word}</dt>
            <dd>
              <span className={`badge badge-${line.tone}`}>{line.text}</span>
            </dd>
          </div>
        ),
      )}
    </dl>
  )
}
