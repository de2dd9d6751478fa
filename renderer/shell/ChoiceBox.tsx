import './choice-box.css'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useRowLimit } from '../controls/use-row-limit.ts'

/** A line to choose. */
export interface Choice {
  readonly id: string
  readonly title: string
  /** Characters of the title that were typed. */
  readonly at: readonly number[]
  /** What it is, beside it. */
  readonly kind: string
  readonly keys: readonly string[]
  readonly enabled: boolean
}

interface Props<C extends Choice> {
  readonly label: string
  readonly placeholder: string
  readonly text: string
  readonly onText: (text: string) => void
  readonly choices: readonly C[]
  readonly onChoose: (choice: C) => void
  readonly onClose: () => void
  /** Said where there is nothing to choose, also to those who do not see. */
  readonly nothing: string
  /** Whether more may come. */
  readonly busy?: boolean
  /** Whether the list is shown; the field always is. */
  readonly open: boolean
  readonly testId: string
  readonly field?: React.RefObject<HTMLInputElement | null>
}

const PAGE = 8
/** Least height of a choice, and most of their list: see choice-box.css. */
const CHOICE_PX = 24
const LIST_PX = 420

const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE }

/** The place `by` further among `count`, from one end to the other only in single moves. */
const moved = (from: number, by: number, count: number): number =>
  Math.abs(by) === 1 ? (from + by + count) % count : Math.min(Math.max(0, from + by), count - 1)

const Marked = ({ title, at }: Pick<Choice, 'title' | 'at'>) => {
  const marked = new Set(at)
  return [...title].map((character, i) =>
    marked.has(i) ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: characters have no state
      <mark key={i}>{character}</mark>
    ) : (
      character
    ),
  )
}

/** A field with a list below it to choose from by arrows and Enter, or by pointer. */
export const ChoiceBox = <C extends Choice>({
  label,
  placeholder,
  text,
  onText,
  choices,
  onChoose,
  onClose,
  nothing,
  busy = false,
  open,
  testId,
  field,
}: Props<C>) => {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const limit = useRowLimit(CHOICE_PX, window.innerHeight - LIST_PX)
  const usable = choices.filter(({ enabled }) => enabled)
  const chosen = usable[Math.min(active, usable.length - 1)]
  const optionId = (choice: Choice): string => `${id}-${choice.id}`

  // biome-ignore lint/correctness/useExhaustiveDependencies: the best choice of new words is the first
  useEffect(() => setActive(0), [text])
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  })

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return
    // Keys of the view below are not meant; those with Ctrl work everywhere.
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation()
    const by = MOVES[event.code]
    if (by !== undefined && usable.length > 0)
      setActive(moved(Math.min(active, usable.length - 1), by, usable.length))
    else if (event.code === 'Enter' || event.code === 'NumpadEnter') {
      if (open && chosen !== undefined) onChoose(chosen)
    } else if (event.code === 'Escape') onClose()
    else return
    event.preventDefault()
  }

  return (
    <div className="choice-box">
      <input
        ref={field}
        className="input choice-field"
        role="combobox"
        aria-label={label}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-autocomplete="list"
        aria-activedescendant={open && chosen !== undefined ? optionId(chosen) : undefined}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        data-testid={testId}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {open ? (
        <div
          className="choice-list"
          id={id}
          ref={list}
          tabIndex={-1}
          // Without choices it is no list but a sentence.
          {...(choices.length === 0 ? {} : { role: 'listbox', 'aria-label': label })}
        >
          {choices.slice(0, limit).map((choice) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are those of the field
            <div
              key={choice.id}
              id={optionId(choice)}
              role="option"
              tabIndex={-1}
              className="choice"
              aria-selected={choice === chosen}
              aria-disabled={!choice.enabled}
              onPointerMove={() => {
                const at = usable.indexOf(choice)
                if (at >= 0) setActive(at)
              }}
              // The field keeps the focus.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => {
                if (choice.enabled) onChoose(choice)
              }}
            >
              <span className="choice-title">
                <Marked title={choice.title} at={choice.at} />
              </span>
              <span className="choice-kind">{choice.kind}</span>
              {choice.keys.map((key) => (
                <kbd key={key} className="kbd">
                  {key}
                </kbd>
              ))}
            </div>
          ))}
          {choices.length === 0 ? <p className="choice-none quiet">{nothing}</p> : null}
          {choices.length > 0 && busy ? <p className="choice-none quiet">Searching…</p> : null}
        </div>
      ) : null}
      <span className="visually-hidden" role="status">
        {open ? (choices.length === 0 ? nothing : `${choices.length} found`) : ''}
      </span>
    </div>
  )
}
