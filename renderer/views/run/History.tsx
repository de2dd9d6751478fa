import { useState } from 'react'
import { ResumeButton, RunItem } from '../../shell/RunPicker.tsx'
import { useCompare } from '../../state/compare.ts'
import { useSession } from '../../state/session.ts'
import { useView } from '../../state/view.ts'
import { matching } from './matching.ts'

const FIRST = 5

/** Runs that were made or opened before, the newest first: filtered by words, opened, or compared with the newest. */
export const History = () => {
  const { runs, openRunById } = useSession()
  const [words, setWords] = useState('')
  const [all, setAll] = useState(false)
  if (runs.length === 0) return null
  const found = matching(runs, words)
  const shown = all ? found : found.slice(0, FIRST)
  return (
    <section className="run-recent" aria-label="History of runs">
      <div className="run-history-head">
        <h3>{all ? 'History of runs' : 'Recent runs'}</h3>
        {runs.length > FIRST ? (
          <input
            className="input"
            type="search"
            placeholder="filter"
            aria-label="Filter the runs by name, configuration or status"
            data-testid="history-filter"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        ) : null}
      </div>
      {shown.map((run) => (
        <div key={run.id} className="run-history-item">
          <RunItem run={run} onOpen={() => void openRunById(run.id)} />
          <ResumeButton run={run} />
          {run.id === runs[0]?.id || run.outcome === undefined ? null : (
            <button
              type="button"
              className="button button-quiet"
              title={`Compare ${run.name} with the newest run`}
              data-testid="history-compare"
              onClick={() => {
                const [newest] = runs
                if (newest === undefined) return
                void openRunById(run.id, { stay: true })
                useCompare.getState().choose({ kind: 'run', id: newest.id })
                useView.getState().show('compare')
              }}
            >
              Compare
            </button>
          )}
        </div>
      ))}
      {found.length === 0 ? <p className="quiet">No run fits.</p> : null}
      {found.length > FIRST ? (
        <button
          type="button"
          className="button button-quiet"
          aria-expanded={all}
          onClick={() => setAll(!all)}
        >
          {all ? 'Show fewer' : `Show all ${found.length}`}
        </button>
      ) : null}
    </section>
  )
}
