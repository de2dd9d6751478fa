import { PROFILES } from '../../../app/backends/index.ts'
import type { Framework } from '../../../app/backends/profile.ts'
import { tabText } from '../../../app/messages/csv.ts'
import { CopyButton } from '../../shell/CopyButton.tsx'
import { useLook, type Wanted } from './look.ts'
import { matrixTable, type Shown } from './model.ts'

const WANTED: readonly { readonly wanted: Wanted; readonly word: string; readonly title: string }[] = [
  { wanted: 'all', word: 'All', title: 'Every line' },
  { wanted: 'refused', word: 'Refused', title: 'Lines in which a shown back-end refuses' },
  { wanted: 'fallback', word: 'Fallbacks', title: 'Lines in which a shown back-end takes a fallback' },
]

const FRAMEWORKS: readonly Framework[] = [...new Set(PROFILES.map(({ framework }) => framework))]

const frameworkOf = (value: string): Framework | 'all' => FRAMEWORKS.find((name) => name === value) ?? 'all'

interface Props {
  readonly shown: Shown
  readonly filter: React.RefObject<HTMLInputElement | null>
}

/** What of the matrix is shown, and what its marks mean. */
export const Toolbar = ({ shown, filter }: Props) => {
  const { words, wanted, framework, change } = useLook()
  return (
    <div className="toolbar backends-toolbar" role="toolbar" aria-label="Back-ends">
      <input
        ref={filter}
        className="input backends-filter"
        type="search"
        aria-label="Filter"
        title="Names of back-ends pick columns, all other words lines (/)"
        placeholder="Filter: back-ends, features, rules"
        spellCheck={false}
        data-testid="backends-filter"
        value={words}
        onChange={(event) => change({ words: event.target.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' && event.key !== 'Enter') return
          if (event.key === 'Escape') change({ words: '' })
          event.currentTarget.blur()
          event.preventDefault()
          event.stopPropagation()
        }}
      />
      <fieldset className="backends-choice">
        <legend className="visually-hidden">Lines</legend>
        {WANTED.map(({ wanted: one, word, title }) => (
          <button
            key={one}
            type="button"
            className="button"
            aria-pressed={wanted === one}
            title={title}
            data-testid={`wanted-${one}`}
            onClick={() => change({ wanted: one })}
          >
            {word}
          </button>
        ))}
      </fieldset>
      <select
        className="input"
        aria-label="Serving engine"
        data-testid="backends-framework"
        value={framework}
        onChange={(event) => change({ framework: frameworkOf(event.target.value) })}
      >
        <option value="all">All engines</option>
        {FRAMEWORKS.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <span className="backends-legend" aria-hidden="true">
        <span className="mark mark-accepted" /> accepted
        <span className="mark mark-fallback" /> fallback
        <span className="mark mark-refused" /> refused
      </span>
      <CopyButton text={tabText(matrixTable(shown))} what="the matrix" testId="copy-matrix" />
    </div>
  )
}
