import { useEffect, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useSession } from '../../state/session.ts'
import { useView } from '../../state/view.ts'
import { ChoiceBox } from '../ChoiceBox.tsx'
import { foundNow } from '../export/menu-state.ts'
import { useLayout } from '../layout.ts'
import { commandsIn, fitting } from './commands.ts'

/** Every command by its name: what works everywhere, keys of the view in front, runs and dumps to open. */
export const Palette = () => {
  const showPalette = useLayout((s) => s.showPalette)
  const view = useView((s) => s.view)
  const runs = useSession((s) => s.runs)
  const [words, setWords] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const box = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs that come while it is open can be opened as well
  const commands = useMemo(() => commandsIn(view, foundNow()), [view, runs])
  const choices = fitting(commands, words).map(({ command, at }) => ({ ...command, at }))

  useEffect(() => {
    const before = document.activeElement
    field.current?.focus()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  useEffect(() => {
    const outside = (event: PointerEvent): void => {
      if (event.target instanceof Node && box.current?.contains(event.target) !== true) showPalette(false)
    }
    window.addEventListener('pointerdown', outside, true)
    return () => window.removeEventListener('pointerdown', outside, true)
  }, [showPalette])

  return (
    <section
      className="palette panel"
      aria-label="Commands"
      ref={box}
      onBlur={({ relatedTarget }) => {
        if (relatedTarget !== null && box.current?.contains(relatedTarget) !== true) showPalette(false)
      }}
    >
      <ChoiceBox
        label="Commands"
        placeholder="Type what you want to do, or a run to open"
        text={words}
        onText={setWords}
        choices={choices}
        onChoose={({ run }) => {
          // What it does may move the focus, so the palette gives that back first.
          flushSync(() => showPalette(false))
          run()
        }}
        onClose={() => showPalette(false)}
        nothing={`No command fits “${words}”.`}
        open
        testId="palette"
        field={field}
      />
    </section>
  )
}
