import { Fragment } from 'react'
import { SourceBadge } from './SourceBadge.tsx'

export interface Fact {
  readonly label: string
  readonly value: string
  /** Where the value comes from, if it was not measured. */
  readonly source?: string | undefined
}

/** Labels with exact values, as hover cards show them. */
export const FactList = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl className="facts">
    {facts.map(({ label, value, source }) => (
      <Fragment key={label}>
        <dt>{label}</dt>
        <dd>
          <SourceBadge source={source} />
          <span className="fact-value">{value}</span>
        </dd>
      </Fragment>
    ))}
  </dl>
)
