import { PRESET_NAMES, type PresetName } from '../../../app/run/config.ts'
import { PRESETS } from '../../../app/run/presets.ts'

interface Props {
  /** What stands in the draft, which may be anything. */
  readonly preset: unknown
  readonly load: (name: PresetName) => void
  readonly title: string
  readonly testId: string
}

/** The preset that a draft is of, to choose another. */
export const PresetPicker = ({ preset, load, title, testId }: Props) => {
  const known = PRESET_NAMES.find((name) => name === preset)
  return (
    <select
      className="input preset"
      aria-label="Preset"
      title={title}
      data-testid={testId}
      value={known ?? ''}
      onChange={(event) => {
        const name = PRESET_NAMES.find((candidate) => candidate === event.target.value)
        if (name !== undefined) load(name)
      }}
    >
      {known === undefined ? <option value="">Own model</option> : null}
      {PRESETS.map(({ name, title: words }) => (
        <option key={name} value={name}>
          {words}
        </option>
      ))}
    </select>
  )
}
