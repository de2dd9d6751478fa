import type { RunInfo } from '../../../app/protocol/store.ts'
import { NumberField } from '../../controls/NumberField.tsx'
import { useViewKeys } from '../../controls/use-view-keys.ts'
import { useDump } from '../../state/dump.ts'
import { useSelection } from '../../state/selection.ts'
import { useView } from '../../state/view.ts'
import { arrowMove, type CaptureKey, within } from './choice.ts'
import { MERGE_PARTS, useMergeLook } from './look.ts'
import type { CaptureShape } from './model.ts'

interface Props {
  readonly run: RunInfo
  readonly captured: CaptureKey
  readonly capture: CaptureShape | null
  readonly row: number
  readonly head: number
}

/** Which capture, row and head is shown; arrow keys move row (up, down) and head (left, right). */
export const Toolbar = ({ run, captured, capture, row, head }: Props) => {
  const select = useSelection((s) => s.select)
  const { workload, cache } = run.manifest.config
  const rows = capture?.rows ?? 0
  const heads = capture?.heads ?? 0
  const toRow = (next: number): void => {
    const kept = within(Math.trunc(next), rows)
    select({ request: capture?.request[kept] ?? null, qIndex: capture?.qIndex[kept] ?? null })
  }
  const toHead = (next: number): void => select({ head: within(Math.trunc(next), heads) })
  const { map, part, base, show, showBase, showMap } = useMergeLook()
  const shownBase = base ?? capture?.lseBase ?? 'e'
  useViewKeys((event) => {
    if (event.code === 'KeyB') {
      showBase(shownBase === 'e' ? '2' : 'e')
      return true
    }
    if (event.code === 'KeyM') {
      showMap(map === 'error' ? 'weight' : 'error')
      return true
    }
    if (event.code === 'KeyC') {
      show(MERGE_PARTS[(MERGE_PARTS.indexOf(part) + 1) % MERGE_PARTS.length] ?? 'vector')
      return true
    }
    const move = arrowMove(event.code)
    if (move === null || capture === null) return false
    if (move.rows !== 0) toRow(row + move.rows)
    else toHead(head + move.heads)
    return true
  })
  return (
    <div className="toolbar merge-toolbar" role="toolbar" aria-label="Merge">
      <label className="merge-pick">
        <span>capture</span>
        <select
          className="input"
          data-testid="merge-capture"
          value={`${captured.step}/${captured.layer}`}
          onChange={(event) => {
            const [step, layer] = event.target.value.split('/').map(Number)
            if (step !== undefined && layer !== undefined) select({ step, layer })
          }}
        >
          {run.captures.map(({ step, layer }) => (
            <option key={`${step}/${layer}`} value={`${step}/${layer}`}>
              step {step}, layer {layer}
            </option>
          ))}
        </select>
      </label>
      <NumberField
        label="row"
        value={row}
        min={0}
        max={rows - 1}
        unit={`of ${rows}`}
        testId="merge-row"
        onChange={toRow}
      />
      <NumberField
        label="head"
        value={head}
        min={0}
        max={heads - 1}
        unit={`of ${heads}`}
        testId="merge-head"
        onChange={toHead}
      />
      {capture === null ? null : (
        <span className="merge-note" data-testid="merge-note">
          request {capture.request[row] ?? 0}, query token {capture.qIndex[row] ?? 0}
          {workload.topk === undefined ? '' : `, top-k ${workload.topk}`}, {cache.kvDtype} cache
        </span>
      )}
      <button
        type="button"
        className="button merge-jump"
        data-testid="merge-to-postmortem"
        title="The captured tensors of this row and head in Post-mortem"
        onClick={() => {
          select({ step: captured.step, layer: captured.layer })
          useDump.getState().show(null)
          useDump.getState().look('tensors')
          useView.getState().show('postmortem')
        }}
      >
        Tensors
      </button>
    </div>
  )
}
