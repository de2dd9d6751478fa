import { useEffect, useRef, useState } from 'react'
import { useSearch } from '../../state/search.ts'
import { useSelection } from '../../state/selection.ts'
import { useSession } from '../../state/session.ts'
import { useAnswer } from '../../state/use-answer.ts'
import { useView } from '../../state/view.ts'
import { showZoom } from '../../state/zoom.ts'
import { ChoiceBox } from '../ChoiceBox.tsx'
import { type Found, placesFound, questionOf, traceFound } from './results.ts'
import { termsOf } from './terms.ts'

/** How long a person rests before the trace is searched. */
const REST_MS = 150

const useRested = (text: string): string => {
  const [rested, setRested] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), REST_MS)
    return () => clearTimeout(timer)
  }, [text])
  return rested
}

const EXAMPLES = 'step 12 · rank 2 step 40 · token 1234 · page 17 · request 3 · decode_attn layer 3 · nan'

interface Results {
  readonly choices: readonly Found[]
  /** Said where there are none. */
  readonly nothing: string
  readonly searching: boolean
}

/** What fits `text`; null asks nothing. */
const useResults = (text: string | null): Results => {
  const info = useSession((s) => s.openRun)
  const view = useView((s) => s.view)
  const selection = useSelection()
  const run = info === null || info.manifest.sweep !== undefined ? null : info
  const rested = useRested(text ?? '')
  const question = run === null || text === null ? null : questionOf(run.id, termsOf(rested))
  const { answer, error, loading } = useAnswer('find', question)
  if (text === null) return { choices: [], nothing: '', searching: false }
  if (info === null) return { choices: [], nothing: 'Open a run to search it.', searching: false }
  if (run === null)
    return { choices: [], nothing: 'A sweep has no steps, spans or tokens to search.', searching: false }
  if (text.trim() === '') return { choices: [], nothing: `Try: ${EXAMPLES}`, searching: false }
  const places = placesFound(termsOf(text), { info: run, view, selection })
  const asked = rested !== text || loading
  const traced = answer === null || asked ? [] : traceFound(answer.params, answer.data, run)
  const nothing = error ?? (asked ? 'Searching…' : `Nothing fits. Try: ${EXAMPLES}`)
  return { choices: [...places, ...traced], nothing, searching: asked }
}

const goTo = ({ view, selection, zoom }: Found): void => {
  useSelection.getState().select(selection)
  useView.getState().show(view)
  if (zoom !== undefined) showZoom(view, useSession.getState().openId, zoom)
}

/** Finds steps, ranks, requests, tokens, pages, spans and events of the open run, and goes there. */
export const SearchField = () => {
  const { text, open, type, show } = useSearch()
  const field = useRef<HTMLInputElement>(null)
  const { choices, nothing, searching } = useResults(open ? text : null)
  useEffect(() => {
    if (!open || document.activeElement === field.current) return
    field.current?.focus()
    field.current?.select()
  }, [open])
  const leave = (): void => {
    show(false)
    field.current?.blur()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: <search> is newer than Chrome 114
    <div
      role="search"
      className="search"
      onFocus={() => show(true)}
      onBlur={({ relatedTarget, currentTarget }) => {
        if (!currentTarget.contains(relatedTarget)) show(false)
      }}
    >
      <ChoiceBox
        label="Search the run"
        placeholder="Search (/)"
        text={text}
        onText={type}
        choices={choices}
        onChoose={(choice) => {
          leave()
          goTo(choice)
        }}
        onClose={leave}
        nothing={nothing}
        busy={searching}
        open={open}
        testId="search"
        field={field}
      />
    </div>
  )
}
