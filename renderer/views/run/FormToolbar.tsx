import { FormTools } from '../../controls/form/FormTools.tsx'
import { PresetPicker } from '../../controls/form/PresetPicker.tsx'
import { PlayIcon } from '../../shell/icons.tsx'
import { valueAt } from '../../state/config-path.ts'
import { runsOn } from '../../state/devices.ts'
import { filled, useRunForm } from '../../state/form.ts'
import { startFormRun } from '../../state/run-actions.ts'
import { useSession } from '../../state/session.ts'
import { whyNotStart } from '../../state/start.ts'

export const FormToolbar = () => {
  const form = useRunForm()
  const { config, issues } = form
  const desktop = useSession((s) => s.desktop)
  const reason = whyNotStart(desktop, issues.length)
  const machine = desktop?.machine ?? null
  return (
    <div className="toolbar form-toolbar" role="toolbar" aria-label="Configuration">
      <PresetPicker
        preset={valueAt(form.draft, 'model.preset')}
        load={form.loadPreset}
        title="Preset: fixes the model; the tiny demo a whole small run"
        testId="preset"
      />
      <FormTools
        form={form}
        reset={form.reset}
        first="the default run"
        example='{ "parallel": { "dcpSize": 8, "tpSize": 8 } }'
        fill={filled}
        testId="copy-config"
      />
      <span className="form-start" title={reason ?? 'Start a run with this configuration'}>
        <button
          type="button"
          className="button button-primary"
          data-testid="run-start"
          disabled={reason !== null}
          aria-describedby="start-reason"
          onClick={() => void startFormRun()}
        >
          <PlayIcon /> Start
        </button>
      </span>
      <p id="start-reason" className="form-reason" data-testid="start-reason">
        {reason ?? (config === null ? 'Ready to start.' : `Ready to start on ${runsOn(config, machine)}.`)}
      </p>
    </div>
  )
}
