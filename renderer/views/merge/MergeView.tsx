import '../../controls/controls.css'
import './merge.css'
import { NothingOfSweep } from '../../controls/NothingOfSweep.tsx'
import { useSession } from '../../state/session.ts'
import { ErrorMap } from './ErrorMap.tsx'
import { LsePicture } from './LsePicture.tsx'
import { MissingCapture, NoRun } from './Missing.tsx'
import { RankTable } from './RankTable.tsx'
import { Toolbar } from './Toolbar.tsx'
import { useMergeInspector } from './use-inspector.ts'
import { useMerge } from './use-merge.ts'
import { VectorPicture } from './VectorPicture.tsx'
import { Verdicts } from './Verdicts.tsx'

/** How one row and head was merged: lse and weight of each rank, the merged vector, and its error. */
export const MergeView = () => {
  const run = useSession((s) => s.openRun)
  const state = useMerge()
  useMergeInspector(state)
  if (run?.manifest.sweep !== undefined) return <NothingOfSweep lacks="no partials" />
  if (run === null || state.choice === null) return <NoRun />
  if (state.choice.kind === 'missing') return <MissingCapture run={run} choice={state.choice} />
  const { capture, model, input, row, head, wanted, error } = state
  return (
    <section className="merge" aria-label="Merge">
      <Toolbar run={run} captured={state.choice.key} capture={capture} row={wanted.row} head={wanted.head} />
      {error === null ? null : (
        <p className="merge-error" role="alert">
          {error}
        </p>
      )}
      {capture === null || model === null || input === null ? (
        <div className="empty-state" aria-live="polite">
          <p>
            {error === null ? 'Reading the captured tensors …' : 'The captured tensors could not be read.'}
          </p>
        </div>
      ) : (
        <div className="merge-body">
          <div className="merge-left">
            <ErrorMap capture={capture} row={row} head={head} />
            <RankTable model={model} base={capture.lseBase} />
          </div>
          <div className="merge-right">
            <LsePicture model={model} base={capture.lseBase} />
            <Verdicts model={model} />
            <VectorPicture model={model} input={input} width={capture.width} />
          </div>
        </div>
      )}
    </section>
  )
}
