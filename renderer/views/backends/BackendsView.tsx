import '../../controls/controls.css'
import './backends.css'
import { useDeferredValue, useMemo, useRef } from 'react'
import { parseRunConfig } from '../../../app/run/parse.ts'
import { useBackendPick } from '../../state/backend-pick.ts'
import { useRunForm } from '../../state/form.ts'
import { tell } from '../../state/messages.ts'
import { useView } from '../../state/view.ts'
import { useLook } from './look.ts'
import { Matrix } from './Matrix.tsx'
import { linesOf, type Picked, pickedOf, shownOf } from './model.ts'
import { Summary } from './Summary.tsx'
import { Toolbar } from './Toolbar.tsx'
import { useBackendsKeys } from './use-backends-keys.ts'
import { useBackendsInspector } from './use-inspector.ts'

const configOf = ({ cell }: Picked) => (cell?.kind === 'verdict' ? cell.config : null)

/** Every back-end against every feature, and against the configuration of Run. */
export const BackendsView = () => {
  const { words, wanted, framework } = useLook()
  const { row, backend, pick } = useBackendPick()
  const config = useRunForm((s) => s.config)
  const filter = useRef<HTMLInputElement>(null)
  const groups = useMemo(() => linesOf(config), [config])
  const shown = useMemo(
    () => shownOf(groups, { words, wanted, framework }),
    [groups, words, wanted, framework],
  )
  const picked = useMemo(() => pickedOf(shown, { row, backend }), [shown, row, backend])
  const given = configOf(picked)
  const take = (): void => {
    if (given === null) return
    const parsed = parseRunConfig(given)
    if (!parsed.ok) return
    useRunForm.getState().replace({ ...parsed.config })
    useView.getState().show('run')
  }
  const copy = (): void => {
    if (given === null) return
    navigator.clipboard.writeText(JSON.stringify(given, null, 2)).then(
      () => tell('info', 'The configuration was copied.'),
      (error: unknown) =>
        tell('error', `Nothing was copied: ${error instanceof Error ? error.message : String(error)}`),
    )
  }
  useBackendsInspector(picked, shown)
  useBackendsKeys({ shown, focusFilter: () => filter.current?.select(), copy, take })
  // The matrix takes as long as all else together, so that comes first.
  const hasMatrix = useDeferredValue(true, false)
  const none = shown.columns.length === 0 || shown.groups.length === 0
  return (
    <section className="backends" aria-label="Back-ends">
      <Toolbar shown={shown} filter={filter} />
      <Summary picked={picked} onTake={given === null ? undefined : take} />
      {none ? (
        <div className="empty-state" data-testid="backends-none">
          <p>Nothing is left by this filter.</p>
          <button
            type="button"
            className="button"
            onClick={() => useLook.getState().change({ words: '', wanted: 'all', framework: 'all' })}
          >
            Show all
          </button>
        </div>
      ) : hasMatrix ? (
        <Matrix shown={shown} picked={picked} onPick={pick} />
      ) : null}
    </section>
  )
}
