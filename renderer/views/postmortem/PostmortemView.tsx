import '../../controls/controls.css'
import './postmortem.css'
import { Contents } from './Contents.tsx'
import { NoDump } from './NoDump.tsx'
import { TABS, type Tab, usePick } from './pick.ts'
import { Tensors } from './Tensors.tsx'
import { Toolbar } from './Toolbar.tsx'
import { type DumpView, useDumpView } from './use-dump-view.ts'

const TAB_WORDS: Readonly<Record<Tab, string>> = { tensors: 'Tensors', contents: 'Files and questions' }

/** What tensor dumps hold, what they can answer, and what is wrong with them. */
export const PostmortemView = () => {
  const view = useDumpView()
  const { tab, change } = usePick()
  if (view.source === null) return <NoDump />
  const problems = (view.contents?.problems.length ?? 0) + (view.contents?.moreProblems ?? 0)
  return (
    <section className="pm" aria-label="Post-mortem">
      <Toolbar view={view} />
      <div className="pm-tabs" role="tablist" aria-label="Parts of the dump">
        {TABS.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            className="pm-tab"
            aria-selected={tab === one}
            data-testid={`pm-tab-${one}`}
            onClick={() => change({ tab: one })}
          >
            {TAB_WORDS[one]}
            {one === 'contents' && problems > 0 ? (
              <span className="badge badge-warn num">{problems}</span>
            ) : null}
          </button>
        ))}
      </div>
      {view.error === null ? null : (
        <p className="pm-error selectable" role="alert" data-testid="pm-error">
          {view.error}
        </p>
      )}
      <Part tab={tab} view={view} />
    </section>
  )
}

const Part = ({ tab, view }: { readonly tab: Tab; readonly view: DumpView }) => {
  const { contents, info } = view
  if (contents === null)
    return (
      <div className="empty-state" aria-live="polite">
        <p>{info.error === null ? 'Reading the headers of the dump …' : 'The dump could not be read.'}</p>
        {info.work === null ? null : (
          <>
            <progress value={info.work.done} max={info.work.total} />
            <p className="num">
              {info.work.done} of {info.work.total} files
            </p>
          </>
        )}
      </div>
    )
  if (tab === 'contents') return <Contents contents={contents} group={view.shown?.group ?? null} />
  if (contents.groups.length === 0)
    return (
      <div className="empty-state" data-testid="pm-nothing">
        <p>No file of this dump can be used. What is wrong with each stands under “Files and questions”.</p>
        <button
          type="button"
          className="button button-primary"
          onClick={() => usePick.getState().change({ tab: 'contents' })}
        >
          Show what is wrong
        </button>
      </div>
    )
  return <Tensors view={view} />
}
