import '../../controls/controls.css'
import './merge.css'
import { NothingOfSweep } from '../../controls/NothingOfSweep.tsx'
import { useSession } from '../../state/session.ts'
import { LsePicture } from './LsePicture.tsx'
import { MERGE_PARTS, PART_WORDS, useMergeLook } from './look.ts'
import { Maps } from './Maps.tsx'
import { MissingCapture, NoRun } from './Missing.tsx'
import { inBase } from './model.ts'
import { RankTable } from './RankTable.tsx'
import { StepTable } from './StepTable.tsx'
import { Toolbar } from './Toolbar.tsx'
import { useMergeInspector } from './use-inspector.ts'
import { useMerge } from './use-merge.ts'
import { VectorPicture } from './VectorPicture.tsx'
import { Verdicts } from './Verdicts.tsx'
import { WhatIfTable } from './WhatIfTable.tsx'

/** How one row and head was merged: lse and weight of each rank, the merged vector, and its error. */
export const MergeView = () => {
  const run = useSession((s) => s.openRun)
  const state = useMerge()
  const look = useMergeLook()
  useMergeInspector(state)
  if (run?.manifest.sweep !== undefined) return <NothingOfSweep lacks="no partials" />
  if (run === null || state.choice === null) return <NoRun />
  if (state.choice.kind === 'missing') return <MissingCapture run={run} choice={state.choice} />
  const { capture, model, input, row, head, wanted, error } = state
  const base = look.base ?? capture?.lseBase ?? 'e'
  const { part } = look
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
            <Maps run={run.id} captured={state.choice.key} capture={capture} row={row} head={head} />
            <RankTable model={inBase(model, capture.lseBase, base)} base={base} />
          </div>
          <div className="merge-right">
            <LsePicture model={inBase(model, capture.lseBase, base)} base={base} own={capture.lseBase} />
            <Verdicts model={model} />
            <PartTabs />
            {part === 'vector' ? (
              <VectorPicture model={model} input={input} width={capture.width} />
            ) : part === 'whatIf' ? (
              <WhatIfTable model={model} input={input} capture={capture} />
            ) : (
              <StepTable
                run={run}
                step={state.choice.key.step}
                layer={state.choice.key.layer}
                row={row}
                head={head}
                base={capture.lseBase}
                shown={base}
              />
            )}
          </div>
        </div>
      )}
    </section>
  )
}

/** What stands below the comparisons: the merged vector, mistakes on the same partials, or the captured steps. */
const PartTabs = () => {
  const { part, show } = useMergeLook()
  return (
    <fieldset className="merge-parts" aria-label="Below">
      {MERGE_PARTS.map((one) => (
        <button
          key={one}
          type="button"
          className="button"
          title={`${PART_WORDS[one]} (C goes on)`}
          aria-pressed={part === one}
          data-testid={`merge-part-${one}`}
          onClick={() => show(one)}
        >
          {PART_WORDS[one]}
        </button>
      ))}
    </fieldset>
  )
}
