import './settings.css'
import { useState } from 'react'
import {
  DEFAULT_SETTINGS,
  SETTING_NAMES,
  type Settings,
  settingsSchema,
  settingWords,
} from '../../../app/settings/settings.ts'
import { RankChip } from '../../controls/RankChip.tsx'
import { formatBytes, formatInt, formatNs } from '../../drawing/format.ts'
import { useSettings } from '../../state/settings.ts'
import { divergingColour, rankColours, sequentialColour } from '../../theme/colours.ts'
import { useTheme } from '../../theme/use-theme.ts'
import { CHOICES, type ChoiceName, GROUPS, NUMBER_UNITS, type NumberName } from './options.ts'

/** What holds for all runs: colours, how numbers are written, limits. Kept at once, for later starts too. */
export const SettingsView = () => {
  const { settings, change } = useSettings()
  const changed = SETTING_NAMES.filter((name) => settings[name] !== DEFAULT_SETTINGS[name])
  return (
    <section className="settings" aria-label="Settings">
      <header className="settings-head">
        <h2>Settings</h2>
        <button
          type="button"
          className="button"
          disabled={changed.length === 0}
          data-testid="settings-reset"
          onClick={() => change(DEFAULT_SETTINGS)}
        >
          Reset all
        </button>
        <span className="quiet" data-testid="settings-changed">
          {changed.length === 0
            ? 'Everything is at its default.'
            : `${formatInt(changed.length)} of ${formatInt(SETTING_NAMES.length)} differ from the defaults.`}
        </span>
      </header>
      {GROUPS.map(({ title, parts }) => (
        <section key={title} className="settings-group" aria-label={title}>
          <h3>{title}</h3>
          {parts.map((part) =>
            part.kind === 'choice' ? (
              <Choice key={part.name} name={part.name} />
            ) : (
              <NumberPart key={`${part.name} ${settings[part.name]}`} name={part.name} />
            ),
          )}
          {title === 'Colours' ? <ColourSample /> : null}
          {title === 'Numbers' ? <NumberSample /> : null}
        </section>
      ))}
    </section>
  )
}

interface WordsProps {
  readonly name: keyof Settings
  readonly id: string
  /** Id of the one field that it is the label of. */
  readonly of?: string
}

const Words = ({ name, id, of }: WordsProps) => {
  const { title, text } = settingWords(name)
  return (
    <div className="settings-words">
      {of === undefined ? <span id={`${id}-title`}>{title}</span> : <label htmlFor={of}>{title}</label>}
      <span id={`${id}-text`} className="quiet">
        {text}
      </span>
    </div>
  )
}

const Choice = ({ name }: { readonly name: ChoiceName }) => {
  const value = useSettings((s) => s.settings[name])
  const change = useSettings((s) => s.change)
  const id = `setting-${name}`
  return (
    <fieldset
      className="settings-part"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      data-testid={id}
    >
      <Words name={name} id={id} />
      <div className="settings-choices">
        {Object.entries(CHOICES[name]).map(([key, word]) => (
          <label key={key} className="settings-choice">
            <input
              type="radio"
              name={id}
              checked={key === value}
              data-testid={`${id}-${key}`}
              onChange={() => {
                const parsed = settingsSchema.partial().safeParse({ [name]: key })
                if (parsed.success) change({ [name]: key })
              }}
            />
            {word}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** A number takes effect when the field is left or Enter is pressed, and only if it is valid. */
const NumberPart = ({ name }: { readonly name: NumberName }) => {
  const value = useSettings((s) => s.settings[name])
  const change = useSettings((s) => s.change)
  const [text, setText] = useState(String(value))
  const id = `setting-${name}`
  const parsed = settingsSchema.shape[name].safeParse(text.trim() === '' ? Number.NaN : Number(text))
  const problem = parsed.success ? null : (parsed.error.issues[0]?.message ?? 'is not valid')
  const settle = (): void => {
    if (parsed.success && parsed.data !== value) change({ [name]: parsed.data })
  }
  return (
    <div className="settings-part">
      <Words name={name} id={id} of={`${id}-field`} />
      <div className="settings-choices">
        <input
          id={`${id}-field`}
          className="input num"
          inputMode="numeric"
          value={text}
          aria-describedby={problem === null ? `${id}-text` : `${id}-problem`}
          aria-invalid={problem !== null}
          data-testid={id}
          onChange={(event) => setText(event.target.value)}
          onBlur={settle}
          onKeyDown={(event) => {
            if (event.code === 'Enter') settle()
            if (event.code === 'Escape') setText(String(value))
          }}
        />
        <span className="field-unit">{NUMBER_UNITS[name]}</span>
        {problem === null ? null : (
          <span id={`${id}-problem`} className="settings-problem" role="alert">
            {problem}
          </span>
        )}
      </div>
    </div>
  )
}

const RAMP = Array.from({ length: 33 }, (_, i) => i / 32)

/** The colours that are chosen, on what they are used for. */
const ColourSample = () => {
  const theme = useTheme()
  return (
    <div className="settings-sample" data-testid="settings-colours">
      <span className="settings-ranks">
        {Array.from({ length: rankColours(theme) + 2 }, (_, rank) => (
          <RankChip key={RAMP[rank]} rank={rank} />
        ))}
      </span>
      <span className="settings-ramp" role="img" aria-label="Ramp of magnitudes">
        {RAMP.map((x) => (
          <span key={x} style={{ background: sequentialColour(x, theme) }} />
        ))}
      </span>
      <span className="settings-ramp" role="img" aria-label="Ramp of signed values">
        {RAMP.map((x) => (
          <span key={x} style={{ background: divergingColour(2 * x - 1, theme) }} />
        ))}
      </span>
    </div>
  )
}

/** Numbers as they will be written. */
const NumberSample = () => {
  useSettings((s) => s.settings)
  return (
    <p className="settings-sample num" data-testid="settings-numbers">
      {formatInt(1_234_567)} tokens, {formatNs(1_234_567)}, {formatNs(12_345)}, {formatBytes(1_610_612_736)}
    </p>
  )
}
