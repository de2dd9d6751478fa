import { isRecord } from '../../state/config-path.ts'
import type { Barred } from './form-context.ts'
import type { Control, FormField } from './form-schema.ts'
import { listOfText, stepped, textOfList, textOfValue, valueOfText } from './number-text.ts'
import { TableControl } from './TableControl.tsx'
import { TextControl } from './TextControl.tsx'

export interface ControlProps {
  /** Path of the value in the configuration; also the id of its control, unless there is another. */
  readonly path: string
  readonly id?: string
  readonly field: FormField
  readonly control: Control
  readonly value: unknown
  readonly invalid: boolean
  /** Words of a choice that cannot be taken on this machine, with why not. */
  readonly barred?: Barred
  /** The value has no meaning as the rest of the configuration is. */
  readonly locked?: boolean
  readonly onChange: (path: string, value: unknown) => void
  readonly onSettle: () => void
}

export const controlId = (path: string): string => `field-${path}`

/** Letters that a row of buttons may have before a list takes less room. */
const SEGMENTED_LETTERS = 26

const unset = ({ fallback, optional }: FormField): string =>
  fallback !== undefined ? textOfList(fallback) : optional ? 'default' : ''

interface ChoiceProps extends ControlProps {
  readonly options: readonly string[]
}

interface SegmentsProps extends ChoiceProps {
  readonly isTaken: (option: string) => boolean
  /** What the value becomes when an option is pressed. */
  readonly after: (option: string) => unknown
}

const Segments = ({ options, isTaken, after, ...props }: SegmentsProps) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot stand within a line of text
  <span
    className="segments"
    id={controlId(props.path)}
    role="group"
    aria-label={props.field.title}
    aria-description={props.field.description}
    data-invalid={props.invalid}
  >
    {options.map((option) => (
      <button
        key={option}
        type="button"
        className="segment"
        aria-pressed={isTaken(option)}
        disabled={props.locked === true || (props.barred?.has(option) === true && !isTaken(option))}
        title={props.barred?.get(option)}
        onClick={() => props.onChange(props.path, after(option))}
        onBlur={props.onSettle}
      >
        {option}
      </button>
    ))}
  </span>
)

/** One of the words. */
const Word = (props: ChoiceProps) => (
  <Segments {...props} isTaken={(option) => props.value === option} after={(option) => option} />
)

/** Some of the words, in the order of the schema whichever was taken first. */
const Words = (props: ChoiceProps) => {
  const given = props.value ?? props.field.fallback
  const taken: readonly unknown[] = Array.isArray(given) ? given : []
  return (
    <Segments
      {...props}
      isTaken={(option) => taken.includes(option)}
      after={(option) => props.options.filter((word) => taken.includes(word) !== (word === option))}
    />
  )
}

const Choice = (props: ControlProps & { readonly options: readonly string[] }) => {
  const { field, options, path, value } = props
  const shown = value ?? field.fallback
  const letters = options.join('').length + options.length * 2
  if (!field.optional && letters <= SEGMENTED_LETTERS && options.some((option) => option === shown))
    return <Word {...props} value={shown} />
  const known = options.some((option) => option === shown)
  return (
    <select
      id={controlId(path)}
      className="input"
      aria-label={field.title}
      aria-description={field.description}
      aria-invalid={props.invalid}
      disabled={props.locked === true}
      value={textOfValue(shown)}
      onChange={(event) => props.onChange(path, event.target.value === '' ? undefined : event.target.value)}
      onBlur={props.onSettle}
    >
      {field.optional ? <option value="">default</option> : null}
      {known || shown === undefined ? null : <option value={textOfValue(shown)}>{textOfValue(shown)}</option>}
      {options.map((option) => (
        <option key={option} value={option} disabled={props.barred?.has(option) === true}>
          {option}
        </option>
      ))}
    </select>
  )
}

const otherWord = (control: Control): string => (control.kind === 'numbers' ? 'list' : control.kind)

const firstOf = (control: Control): unknown =>
  control.kind === 'numbers' ? [0] : control.kind === 'number' ? (control.min ?? 1) : ''

/** Words, and one more that opens the other kind of value. */
const Either = (props: ControlProps & { readonly options: readonly string[]; readonly other: Control }) => {
  const { options, other, field, value, path } = props
  const shown = value ?? field.fallback
  const isWord = options.some((option) => option === shown)
  const word = otherWord(other)
  return (
    <span className="either">
      <select
        className="input"
        id={controlId(path)}
        disabled={props.locked === true}
        aria-label={field.title}
        aria-description={field.description}
        value={isWord ? textOfValue(shown) : word}
        onChange={(event) =>
          props.onChange(path, event.target.value === word ? firstOf(other) : event.target.value)
        }
        onBlur={props.onSettle}
      >
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
        <option value={word}>{word}…</option>
      </select>
      {isWord ? null : <ControlView {...props} control={other} id={`${controlId(path)}-value`} />}
    </span>
  )
}

const Switch = ({ field, path, value, locked, onChange, onSettle }: ControlProps) => {
  const on = (value ?? field.fallback) === true
  return (
    <button
      id={controlId(path)}
      type="button"
      role="switch"
      className="switch"
      disabled={locked === true}
      aria-checked={on}
      aria-label={field.title}
      aria-description={field.description}
      onClick={() => onChange(path, !on)}
      onBlur={onSettle}
    >
      <span className="switch-knob" />
    </button>
  )
}

const jsonValue = (text: string): unknown => {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    // Half-typed text stays text; the check of the configuration says what is wanted.
    return text
  }
}

const jsonText = (value: unknown): string => (isRecord(value) ? JSON.stringify(value) : textOfValue(value))

/** The control of a value, by what the schema says of it. */
export const ControlView = (props: ControlProps) => {
  const { control, field, path, value, onChange } = props
  const text = {
    id: props.id ?? controlId(path),
    name: field.title,
    description: field.description,
    value,
    placeholder: unset(field),
    invalid: props.invalid,
    onChange: (next: unknown) => onChange(path, next),
    onSettle: props.onSettle,
  }
  switch (control.kind) {
    case 'choice':
      return <Choice {...props} options={control.options} />
    case 'either':
      return <Either {...props} options={control.options} other={control.other} />
    case 'words':
      return <Words {...props} options={control.options} />
    case 'switch':
      return <Switch {...props} />
    case 'table':
      return <TableControl {...props} columns={control.columns} newRow={control.newRow} />
    case 'number':
      return (
        <TextControl
          {...text}
          numeric
          toText={textOfValue}
          toValue={valueOfText}
          onStep={(by) => {
            const next = stepped(value ?? field.fallback, by, control)
            if (next !== null) onChange(path, next)
          }}
        />
      )
    case 'numbers':
      return <TextControl {...text} numeric list toText={textOfList} toValue={listOfText} />
    case 'text':
      return (
        <TextControl
          {...text}
          numeric={false}
          toText={textOfValue}
          toValue={(typed) => (typed === '' && field.optional ? undefined : typed)}
        />
      )
    case 'json':
      return <TextControl {...text} numeric={false} toText={jsonText} toValue={jsonValue} />
  }
}
