import { useRef, useState } from 'react'
import { NumberField } from '../../controls/NumberField.tsx'
import { formatInt } from '../../drawing/format.ts'
import { type CalculatorFields, useCalculator } from '../../state/calculator.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import type { DumpPart } from './dump-part.ts'
import { tokenFromText } from './source.ts'
import type { RunPart, Shown } from './use-source.ts'
import type { ViewportControl } from './use-viewport.ts'

interface Props {
  readonly shown: Shown
  /** Of the picture that is shown. */
  readonly control: { readonly zoom: (factor: number) => void; readonly fit: () => void }
  readonly reveal: ViewportControl['reveal']
}

export const Toolbar = ({ shown, control, reveal }: Props) => {
  const hasRun = useSession((s) => s.openRun !== null)
  const { dumped, setSource } = useCalculator()
  const layout = shown.source.ok ? shown.source.layout : null
  return (
    <div className="toolbar ownership-toolbar" role="toolbar" aria-label="Ownership">
      <fieldset className="ownership-modes">
        <legend>Source</legend>
        <button
          type="button"
          className="button"
          aria-pressed={shown.run !== null}
          disabled={!hasRun}
          title={hasRun ? 'Show the open run' : 'No run is open'}
          onClick={() => setSource('run')}
        >
          Run
        </button>
        {dumped === null ? null : (
          <button
            type="button"
            className="button"
            aria-pressed={shown.dump !== null}
            title={`Show ${dumped.name}, the dump that was looked at in Post-mortem`}
            data-testid="ownership-dump"
            onClick={() => setSource('dump')}
          >
            Dump
          </button>
        )}
        <button
          type="button"
          className="button"
          aria-pressed={shown.run === null && shown.dump === null}
          data-testid="ownership-calculator"
          onClick={() => setSource('calculator')}
        >
          Calculator
        </button>
      </fieldset>
      {shown.run !== null ? (
        <RunInputs run={shown.run} len={layout?.len ?? 0} />
      ) : shown.dump !== null ? (
        <DumpInputs dump={shown.dump} len={layout?.len ?? 0} />
      ) : (
        <CalculatorInputs fields={shown.fields} shown={shown} />
      )}
      {layout === null ? null : (
        <>
          <GoToToken len={layout.len} reveal={reveal} />
          <span className="ownership-zoom">
            <button
              type="button"
              className="button"
              aria-label="Zoom out"
              onClick={() => control.zoom(1 / 2)}
            >
              −
            </button>
            <button type="button" className="button" aria-label="Zoom in" onClick={() => control.zoom(2)}>
              +
            </button>
            <button type="button" className="button" title="Show all tokens (0)" onClick={control.fit}>
              Fit
            </button>
          </span>
        </>
      )}
    </div>
  )
}

const RunInputs = ({ run, len }: { readonly run: RunPart; readonly len: number }) => {
  const select = useSelection((s) => s.select)
  if (run.steps === 0) return <span className="ownership-detail">The run has no step yet.</span>
  return (
    <>
      <RequestInput request={run.request} requests={run.requests} />
      <NumberField
        label="step"
        value={run.step}
        min={0}
        max={run.steps - 1}
        unit={`of ${formatInt(run.steps)}`}
        testId="ownership-step"
        onChange={(step) => select({ step: Math.min(Math.max(0, Math.trunc(step)), run.steps - 1) })}
      />
      <Length len={len} />
    </>
  )
}

const DumpInputs = ({ dump: { of, request }, len }: { readonly dump: DumpPart; readonly len: number }) => (
  <>
    <RequestInput request={request} requests={of.lens.length} />
    <span className="ownership-detail" data-testid="ownership-dump-of">
      {of.name}, step <b className="num">{of.step}</b>, layer <b className="num">{of.layer}</b>
    </span>
    <Length len={len} />
  </>
)

const RequestInput = ({ request, requests }: { readonly request: number; readonly requests: number }) => {
  const select = useSelection((s) => s.select)
  return (
    <NumberField
      label="request"
      value={request}
      min={0}
      max={requests - 1}
      unit={`of ${formatInt(requests)}`}
      testId="ownership-request"
      onChange={(typed) => select({ request: Math.min(Math.max(0, Math.trunc(typed)), requests - 1) })}
    />
  )
}

const Length = ({ len }: { readonly len: number }) => (
  <span className="ownership-detail">
    length <b className="num">{formatInt(len)}</b>
  </span>
)

/** Fields are only as wide as their largest numbers need: the toolbar is one line in a window of 1280 pixels. */
const INPUTS: readonly { key: keyof CalculatorFields; label: string; min: number; digits: number }[] = [
  { key: 'len', label: 'length', min: 0, digits: 8 },
  { key: 'dcp', label: 'dcp', min: 1, digits: 3 },
  { key: 'interleave', label: 'interleave', min: 1, digits: 7 },
  { key: 'page', label: 'page', min: 1, digits: 4 },
]

const CalculatorInputs = ({
  fields,
  shown,
}: {
  readonly fields: CalculatorFields
  readonly shown: Shown
}) => {
  const { edit, edits, reset } = useCalculator()
  const wrong = new Set(shown.source.ok ? [] : shown.source.issues.map((issue) => issue.path))
  return (
    <>
      {INPUTS.map(({ key, label, min, digits }) => (
        <NumberField
          key={key}
          label={label}
          value={fields[key]}
          min={min}
          digits={digits}
          invalid={wrong.has(key)}
          testId={`ownership-${key}`}
          onChange={(value) => edit({ [key]: value })}
        />
      ))}
      <button
        type="button"
        className="button"
        disabled={Object.keys(edits).length === 0}
        title="Take length, dcp size, interleave and page size from the run form"
        onClick={reset}
      >
        From form
      </button>
    </>
  )
}

const GoToToken = ({ len, reveal }: { readonly len: number; readonly reveal: Props['reveal'] }) => {
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const select = useSelection((s) => s.select)
  const token = tokenFromText(text, len)
  const wrong = text.trim() !== '' && token === null
  return (
    <form
      className="ownership-goto"
      onSubmit={(event) => {
        event.preventDefault()
        if (token === null) return
        select({ token })
        reveal(token, true)
        field.current?.blur()
      }}
    >
      <input
        ref={field}
        className="input num"
        type="text"
        inputMode="numeric"
        placeholder="go to token"
        aria-label="Go to token"
        aria-invalid={wrong}
        title={
          wrong
            ? `must be a token from 0 to ${len - 1}`
            : 'Token index, or negative from the end; Enter goes there'
        }
        data-testid="ownership-goto"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  )
}
