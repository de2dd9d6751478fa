import './term.css'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { type Term as Entry, GLOSSARY, type TermId, termNamed } from '../../app/help/glossary.ts'

const WIDTH = 280
const EDGE = 8

/** A word whose definition stands beside it while it is pointed at or has the focus. */
const Defined = ({ entry, children }: { readonly entry: Entry; readonly children: ReactNode }) => {
  const [place, setPlace] = useState<{ left: number; top: number } | null>(null)
  const word = useRef<HTMLElement>(null)
  const id = useId()
  const show = (): void => {
    const box = word.current?.getBoundingClientRect()
    if (box === undefined) return
    setPlace({
      left: Math.max(EDGE, Math.min(box.left, window.innerWidth - WIDTH - EDGE)),
      top: box.bottom + 4,
    })
  }
  const hide = (): void => setPlace(null)
  useEffect(() => {
    if (place === null) return
    const onKey = (event: KeyboardEvent): void => {
      if (event.code !== 'Escape') return
      event.preventDefault()
      event.stopPropagation()
      setPlace(null)
    }
    // What scrolls moves the word away from its definition.
    window.addEventListener('scroll', hide, true)
    window.addEventListener('keydown', onKey, true)
    return () => {
      window.removeEventListener('scroll', hide, true)
      window.removeEventListener('keydown', onKey, true)
    }
  })
  return (
    <>
      <dfn
        ref={word}
        className="term"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: its definition is reached by keys as well
        tabIndex={0}
        aria-describedby={place === null ? undefined : id}
        onPointerEnter={show}
        onPointerLeave={hide}
        onFocus={show}
        onBlur={hide}
      >
        {children}
      </dfn>
      {place === null ? null : (
        <span id={id} role="tooltip" className="term-text" style={{ ...place, width: WIDTH }}>
          <b>{entry.name}</b> {entry.text}
        </span>
      )}
    </>
  )
}

/** A term of the glossary, written as `children` say or by its name. */
export const Term = ({ id, children }: { readonly id: TermId; readonly children?: ReactNode }) => (
  <Defined entry={GLOSSARY[id]}>{children ?? GLOSSARY[id].name}</Defined>
)

/** A label that explains itself where it is a term. */
export const Label = ({ text }: { readonly text: string }) => {
  const entry = termNamed(text)
  return entry === undefined ? text : <Defined entry={entry}>{text}</Defined>
}
