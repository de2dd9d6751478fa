import { SourceBadge } from '../controls/SourceBadge.tsx'
import { Label } from '../controls/Term.tsx'
import { formatInt } from '../drawing/format.ts'
import { withSource } from '../drawing/provenance.ts'
import { linkNow } from '../state/follow-link.ts'
import { runStateOf } from '../state/run-state.ts'
import { useSelection } from '../state/selection.ts'
import { useSession } from '../state/session.ts'
import { useView } from '../state/view.ts'
import { CopyButton } from './CopyButton.tsx'
import { type InspectorRow, sectionsFor, useInspectorContent } from './Inspector.tsx'
import { INSPECTOR, useLayout } from './layout.ts'
import { Resizer } from './Resizer.tsx'
import { runRows } from './run-rows.ts'
import { sweepRows } from './sweep-rows.ts'
import { useStepRows } from './use-step-rows.ts'

/** From so many letters on a value is read as text and not as a number. */
const TEXT_FROM = 48

const Row = ({ row }: { readonly row: InspectorRow }) => (
  <div className={row.value.length < TEXT_FROM ? 'inspector-row' : 'inspector-row inspector-text'}>
    <dt>
      <Label text={row.label} />
    </dt>
    <dd>
      <span className="num inspector-value selectable" title={row.copy ?? row.value}>
        {row.value}
      </span>
      {row.note === undefined ? null : <span className="inspector-note">{row.note}</span>}
      <SourceBadge source={row.source} />
    </dd>
    <dd>
      <CopyButton
        text={withSource(row.copy ?? row.value, row.source)}
        what={row.label}
        className="inspector-copy"
      />
    </dd>
  </div>
)

const Rows = ({ title, rows }: { readonly title: string; readonly rows: readonly InspectorRow[] }) => (
  <section className="inspector-part" aria-label={title}>
    <h3>{title}</h3>
    <dl>
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: labels may repeat, and rows have no state of their own
        <Row key={`${row.label} ${i}`} row={row} />
      ))}
    </dl>
  </section>
)

/** Everything about the selection, as the views say it, above the facts of the selected step and the open run. */
export const InspectorPanel = () => {
  const sections = useInspectorContent((s) => s.sections)
  const view = useView((s) => s.view)
  const selection = useSelection()
  const { inspectorWidth, resizeInspector } = useLayout()
  const openRun = useSession((s) => s.openRun)
  const openId = useSession((s) => s.openId)
  const phase = useSession((s) => runStateOf(s)?.phase)
  const step = useStepRows(openRun)
  const isSweep = openRun?.manifest.sweep !== undefined
  const factsOf = isSweep ? sweepRows : runRows
  const facts = openRun === null ? [] : factsOf(openRun, phase ?? openRun.manifest.status)
  const shown = sectionsFor(sections, view, openId, selection)
  return (
    <aside
      className="inspector"
      style={{ width: inspectorWidth }}
      aria-label="Inspector"
      data-testid="inspector"
    >
      <Resizer
        label="Width of the inspector"
        value={inspectorWidth}
        min={INSPECTOR.least}
        max={INSPECTOR.most}
        onChange={resizeInspector}
      />
      <div className="inspector-body">
        {shown.map(({ view: of, title, rows }) => (
          <Rows key={of} title={title} rows={rows} />
        ))}
        {step.length === 0 ? null : <Rows title="Step" rows={step} />}
        {facts.length === 0 ? null : <Rows title={isSweep ? 'Sweep' : 'Run'} rows={facts} />}
        {shown.length === 0 && facts.length === 0 ? (
          <p className="inspector-none">
            Select a step, span, token or row in any view; its exact values stand here.
          </p>
        ) : null}
      </div>
      <div className="inspector-foot">
        {openRun === null || isSweep ? null : (
          <p>
            <span className="num">{formatInt(openRun.spanCount)}</span> spans in the bundle
          </p>
        )}
        <CopyButton
          text={linkNow}
          what="a link to this place (Ctrl+Shift+L)"
          label="Link"
          className="button button-quiet inspector-link"
          testId="copy-link"
        />
      </div>
    </aside>
  )
}
