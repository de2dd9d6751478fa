import { useState } from 'react'
import type { ConfigDifference } from '../../../app/compare/configs.ts'
import { KIND_WORDS } from '../../../app/compare/text.ts'
import { WarningIcon } from '../../shell/icons.tsx'

interface Props {
  readonly differences: readonly ConfigDifference[] | null
  readonly unlike: readonly string[]
}

/** What is listed before one asks for the rest. */
const FIRST = 6

/** What both were asked, and where, as far as that differs: before all that follows from it. */
export const Differences = ({ differences, unlike }: Props) => {
  const [all, setAll] = useState(false)
  if (differences === null) return <p className="compare-note">Reading the configurations …</p>
  const shown = all ? differences : differences.slice(0, FIRST)
  return (
    <section aria-label="Configuration">
      <h3>Configuration</h3>
      {unlike.map((sentence) => (
        <p key={sentence} className="compare-unlike selectable">
          <WarningIcon /> {sentence}
        </p>
      ))}
      {differences.length === 0 ? (
        <p className="compare-note">Both have the same configuration, device and versions.</p>
      ) : (
        <table className="compare-table" data-testid="compare-differences">
          <thead>
            <tr>
              <th scope="col">kind</th>
              <th scope="col">field</th>
              <th scope="col">A</th>
              <th scope="col">B</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ kind, path, a, b }) => (
              <tr key={path}>
                <td className="compare-kind">{KIND_WORDS[kind]}</td>
                <th scope="row">{path}</th>
                <td className="compare-value selectable" title={a ?? undefined}>
                  {a ?? '–'}
                </td>
                <td className="compare-value selectable" title={b ?? undefined}>
                  {b ?? '–'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {differences.length > FIRST ? (
        <button
          type="button"
          className="button button-quiet"
          aria-expanded={all}
          onClick={() => setAll(!all)}
        >
          {all ? 'Show fewer' : `Show all ${differences.length}`}
        </button>
      ) : null}
    </section>
  )
}
