import { PRESET_NAMES } from '../../../app/run/config.ts'
import { PRESETS } from '../../../app/run/presets.ts'
import { FormTools } from '../../controls/form/FormTools.tsx'
import { PlayIcon } from '../../shell/icons.tsx'
import { valueAt } from '../../state/config-path.ts'
import { runsOn } from '../../state/devices.ts'
import { filled, useRunForm } from '../../state/form.ts'
import { startFormRun } from '../../state/run-actions.ts'
import { useSession } from '../../state/session.ts'
import { whyNotStart } from '../../state/start.ts'

const PresetPicker = () => {
  const preset = useRunForm((s) => valueAt(s.draft, 'model.preset'))
  const loadPreset = useRunForm((s) => s.loadPreset)
  const known = PRESET_NAMES.some((name) => name === preset)
  return (
    <select
      className="input preset"
      aria-label="Preset"
      title="Preset: fixes the model; the tiny demo a whole small run"
      data-testid="preset"
      value={known ? String(preset) : ''}
      onChange={(event) => {
        const name = PRESET_NAMES.find((candidate) => candidate === event.target.value)
        if (name !== undefined) loadPreset(name)
      }}
    >
      {known ? null : <option value="">Own model</option>}
      {PRESETS.map(({ name, title }) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </select>
  )
}

export const FormToolbar = () => {
  const form = useRunForm()
  const { config, issues } = form
  const desktop = useSession((s) => s.desktop)
  const reason = whyNotStart(desktop, issues.length)
  const machine = desktop?.machine ?? null
  return (
    <div className="toolbar form-toolbar" role="toolbar" aria-label="Configuration">
      <PresetPicker />
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
