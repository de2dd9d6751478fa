import '../../controls/controls.css'
import './postmortem.css'
import './findings.css'
import { formatInt } from '../../drawing/format.ts'
import { type DumpPart, useDump } from '../../state/dump.ts'
import { Contents } from './Contents.tsx'
import { Findings } from './Findings.tsx'
import { NoDump } from './NoDump.tsx'
import { PART_WORDS, PartTabs } from './PartTabs.tsx'
import { Tensors } from './Tensors.tsx'
import { Toolbar } from './Toolbar.tsx'
import { type DumpView, useDumpView } from './use-dump-view.ts'

/** What tensor dumps hold, what they can answer, and what is wrong with them. */
export const PostmortemView = () => {
  const view = useDumpView()
  const part = useDump((s) => s.part)
  if (view.source === null) return <NoDump />
  const problems = (view.contents?.problems.length ?? 0) + (view.contents?.moreProblems ?? 0)
  return (
    <section className="pm" aria-label="Post-mortem">
      <Toolbar view={view} />
      <PartTabs problems={problems} />
      {view.error === null ? null : (
        <p className="pm-error selectable" role="alert" data-testid="pm-error">
          {view.error}
        </p>
      )}
      <div id="pm-part" className="pm-part" role="tabpanel" aria-label={PART_WORDS[part]}>
        <Part part={part} view={view} />
      </div>
    </section>
  )
}

const Part = ({ part, view }: { readonly part: DumpPart; readonly view: DumpView }) => {
  const { contents, info } = view
  if (contents === null)
    return (
      <div className="empty-state" aria-live="polite">
        <p>{info.error === null ? 'Reading the headers of the dump …' : 'The dump could not be read.'}</p>
        {info.work === null ? null : (
          <>
            <progress value={info.work.done} max={info.work.total} />
            <p className="num">
              {formatInt(info.work.done)} of {formatInt(info.work.total)} files
            </p>
            {view.source?.isRun === false ? (
              <button type="button" className="button" onClick={() => useDump.getState().show(null)}>
                Cancel
              </button>
            ) : null}
          </>
        )}
      </div>
    )
  if (part === 'contents') return <Contents contents={contents} group={view.shown?.group ?? null} />
  if (contents.groups.length === 0)
    return (
      <div className="empty-state" data-testid="pm-nothing">
        <p>No file of this dump can be used. What is wrong with each stands under “Files and questions”.</p>
        <button
          type="button"
          className="button button-primary"
          onClick={() => useDump.getState().look('contents')}
        >
          Show what is wrong
        </button>
      </div>
    )
  return part === 'findings' && view.source !== null ? (
    <Findings source={view.source} />
  ) : (
    <Tensors view={view} />
  )
}
