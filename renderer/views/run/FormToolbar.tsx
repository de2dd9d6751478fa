import { PRESET_NAMES } from '../../../app/run/config.ts'
import { PRESETS } from '../../../app/run/presets.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { PlayIcon, RedoIcon, ResetIcon, UndoIcon } from '../../shell/icons.tsx'
import { valueAt } from '../../state/config-path.ts'
import { runsOn } from '../../state/devices.ts'
import { useRunForm } from '../../state/form.ts'
import { startFormRun } from '../../state/run-actions.ts'
import { useSession } from '../../state/session.ts'
import { whyNotStart } from '../../state/start.ts'
import { ImportConfig } from './ImportConfig.tsx'

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
  const { draft, config, issues, past, future, undo, redo, reset } = useRunForm()
  const desktop = useSession((s) => s.desktop)
  const reason = whyNotStart(desktop, issues.length)
  const machine = desktop?.machine ?? null
  return (
    <div className="toolbar form-toolbar" role="toolbar" aria-label="Configuration">
      <PresetPicker />
      <span className="form-tools">
        <button
          type="button"
          className="button button-quiet button-icon"
          title="Undo (Ctrl+Z)"
          aria-label="Undo"
          disabled={past.length === 0}
          onClick={undo}
        >
          <UndoIcon />
        </button>
        <button
          type="button"
          className="button button-quiet button-icon"
          title="Redo (Ctrl+Shift+Z)"
          aria-label="Redo"
          disabled={future.length === 0}
          onClick={redo}
        >
          <RedoIcon />
        </button>
        <button
          type="button"
          className="button button-quiet button-icon"
          title="Reset to the default run"
          aria-label="Reset"
          onClick={reset}
        >
          <ResetIcon />
        </button>
        <CopyButton
          text={JSON.stringify(draft, null, 2)}
          what="the configuration as JSON"
          testId="copy-config"
        />
        <ImportConfig />
      </span>
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
