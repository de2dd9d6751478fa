import { useMemo, useState } from 'react'
import { FormHint } from '../../controls/form/FormHint.tsx'
import { FormTools } from '../../controls/form/FormTools.tsx'
import { type FormControl, FormProvider } from '../../controls/form/form-context.ts'
import type { FormField } from '../../controls/form/form-schema.ts'
import { IssueList } from '../../controls/form/IssueList.tsx'
import { PresetPicker } from '../../controls/form/PresetPicker.tsx'
import { Section } from '../../controls/form/Section.tsx'
import { CloseIcon, PlayIcon } from '../../shell/icons.tsx'
import { valueAt } from '../../state/config-path.ts'
import { barredDevices, whyIdle } from '../../state/devices.ts'
import { DEFAULT_PRESET, useRunForm } from '../../state/form.ts'
import { useSession } from '../../state/session.ts'
import { whyNotMeasure } from '../../state/start.ts'
import { startFormSweep } from '../../state/sweep-actions.ts'
import { filledSweep, useSweepForm } from '../../state/sweep-form.ts'
import { ForecastPanel } from './ForecastPanel.tsx'
import { SWEEP_FORM } from './sweep-schema.ts'
import { useForecast } from './use-forecast.ts'

const BASE = 'base.'

/** A path of the base as one of a run; empty for those of the sweep itself. */
const inRun = (path: string): string => (path.startsWith(BASE) ? path.slice(BASE.length) : '')

const useSweepFormControl = (): FormControl => {
  const { draft, issues, config, set, settle } = useSweepForm()
  const machine = useSession((s) => s.desktop?.machine ?? null)
  return useMemo(
    () => ({
      draft,
      issues,
      set,
      settle,
      // The picker of presets above the form edits this one.
      elsewhere: 'base.model.preset',
      barredAt: (path) => barredDevices(inRun(path), machine),
      fixedAt: () => null,
      idleAt: (path) => whyIdle(inRun(path), config?.base ?? null, machine),
    }),
    [draft, issues, config, set, settle, machine],
  )
}

/** Where the fields come from: a preset of sweeps, or the run form for the base. */
const Sources = () => {
  const preset = useSweepForm((s) => valueAt(s.draft, 'base.model.preset'))
  const { loadPreset, takeRun } = useSweepForm()
  const run = useRunForm((s) => s.config)
  return (
    <>
      <PresetPicker
        preset={preset}
        load={loadPreset}
        title="Preset: a whole sweep; the tiny one takes a minute at most on any machine, the models need a GPU"
        testId="sweep-preset"
      />
      <button
        type="button"
        className="button"
        disabled={run === null}
        title={
          run === null
            ? 'The configuration in Run has fields to correct'
            : 'Take the model and all else that does not vary from the configuration in Run'
        }
        data-testid="sweep-from-run"
        onClick={() => {
          if (run !== null) takeRun(run)
        }}
      >
        Base from Run
      </button>
    </>
  )
}

const Start = ({ barred }: { readonly barred: string | null }) => {
  const hide = useSweepForm((s) => s.hide)
  return (
    <span className="form-start">
      <button
        type="button"
        className="button button-primary"
        data-testid="sweep-start"
        disabled={barred !== null}
        title={barred ?? 'Measure this sweep (Ctrl+Enter)'}
        aria-describedby="sweep-reason"
        onClick={() => void startFormSweep()}
      >
        <PlayIcon /> Start
      </button>{' '}
      <button
        type="button"
        className="button button-quiet button-icon"
        title="Close the form; what is in it stays (Esc)"
        aria-label="Close the form"
        onClick={hide}
      >
        <CloseIcon />
      </button>
    </span>
  )
}

/** The sweep that is measured next, as its schema describes it, and what it would be. */
export const NewSweep = () => {
  const [hint, setHint] = useState<FormField | null>(null)
  const form = useSweepForm()
  const control = useSweepFormControl()
  const foretold = useForecast(form.config)
  const busy = useSession((s) => whyNotMeasure(s.desktop))
  const empty = foretold?.forecast.points === 0 ? 'No point of this sweep can be measured.' : null
  const barred = form.issues.length > 0 ? 'The sweep has fields to correct.' : (empty ?? busy)
  return (
    <FormProvider value={control}>
      <section className="new-sweep" aria-label="New sweep" data-testid="new-sweep">
        <div className="toolbar form-toolbar" role="toolbar" aria-label="New sweep">
          <h2>New sweep</h2>
          <Sources />
          <FormTools
            form={form}
            reset={() => form.loadPreset(DEFAULT_PRESET)}
            first="the small sweep"
            example='{ "dcp": [2, 4, 8], "context": [1024, 16384], "concurrency": [1, 16] }'
            fill={filledSweep}
            testId="copy-sweep"
          />
          <Start barred={barred} />
          <p id="sweep-reason" className="form-reason" data-testid="sweep-reason">
            {barred ?? 'Ready to start. The copy as JSON is what dcpscope sweep takes.'}
          </p>
        </div>
        <div className="new-sweep-body">
          <div className="new-sweep-form">
            <IssueList sections={SWEEP_FORM} what="sweep" />
            <div className="form-sections">
              {SWEEP_FORM.map((section) => (
                <Section key={section.key} section={section} onHint={setHint} />
              ))}
            </div>
            <FormHint field={hint} />
          </div>
          <div className="new-sweep-forecast">
            <ForecastPanel foretold={foretold} />
          </div>
        </div>
      </section>
    </FormProvider>
  )
}
