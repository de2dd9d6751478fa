import { useState } from 'react'

interface Props {
  readonly label: string
  readonly value: number
  /** Called with every number that is typed; what lies outside of the range is the caller's to judge. */
  readonly onChange: (value: number) => void
  readonly min?: number
  readonly max?: number
  readonly unit?: string
  readonly invalid?: boolean
  /** Digits that the field has room for, where that is not the usual width. */
  readonly digits?: number
  readonly testId?: string
}

/** A number that is typed or stepped with the arrow keys; a half-typed number stays as it is until focus leaves. */
export const NumberField = ({ label, value, onChange, min, max, unit, invalid, digits, testId }: Props) => {
  const [draft, setDraft] = useState<string | null>(null)
  return (
    <label className="number-field">
      <span className="number-field-label">{label}</span>
      <input
        className="input num"
        type="number"
        step={1}
        style={digits === undefined ? undefined : { width: `calc(${digits}ch + 14px)` }}
        min={min}
        max={max}
        value={draft ?? String(value)}
        aria-invalid={invalid === true}
        data-testid={testId}
        onChange={(event) => {
          setDraft(event.target.value)
          const typed = event.target.value.trim() === '' ? Number.NaN : Number(event.target.value)
          if (Number.isFinite(typed)) onChange(typed)
        }}
        onBlur={() => setDraft(null)}
      />
      {unit === undefined ? null : <span className="number-field-unit">{unit}</span>}
    </label>
  )
}
