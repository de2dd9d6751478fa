import { type KeyboardEvent, useState } from 'react'

interface Props {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly value: unknown
  readonly placeholder: string
  readonly invalid: boolean
  readonly numeric: boolean
  /** Several numbers, which take the room that there is. */
  readonly list?: boolean
  readonly toText: (value: unknown) => string
  readonly toValue: (text: string) => unknown
  readonly onChange: (value: unknown) => void
  /** Called when focus leaves. */
  readonly onSettle: () => void
  readonly onStep?: (by: number) => void
}

interface Typing {
  readonly text: string
  /** What the text was taken as; when the value is another one, it was changed from elsewhere. */
  readonly sent: string
}

/** Typed text that stands for a value: shown as typed while it is typed, as the value's own text else. */
export const TextControl = (props: Props) => {
  const { value, toText, toValue, onChange, onStep } = props
  const [typing, setTyping] = useState<Typing | null>(null)
  const own = toText(value)
  const step = (event: KeyboardEvent): void => {
    const by = event.code === 'ArrowUp' ? 1 : event.code === 'ArrowDown' ? -1 : 0
    if (by === 0 || onStep === undefined) return
    event.preventDefault()
    setTyping(null)
    onStep(event.shiftKey ? by * 10 : by)
  }
  return (
    <input
      id={props.id}
      className={props.list === true ? 'input num number-list' : props.numeric ? 'input num' : 'input'}
      type="text"
      inputMode={props.numeric ? 'numeric' : 'text'}
      spellCheck={false}
      autoComplete="off"
      aria-label={props.name}
      aria-description={props.description}
      aria-invalid={props.invalid}
      placeholder={props.placeholder}
      value={typing !== null && typing.sent === own ? typing.text : own}
      onChange={(event) => {
        const next = toValue(event.target.value)
        setTyping({ text: event.target.value, sent: toText(next) })
        onChange(next)
      }}
      onKeyDown={step}
      onBlur={() => {
        setTyping(null)
        props.onSettle()
      }}
    />
  )
}
