import { Fragment } from 'react'

export interface Fact {
  readonly label: string
  readonly value: string
}

/** Labels with exact values, as hover cards show them. */
export const FactList = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl className="facts">
    {facts.map(({ label, value }) => (
      <Fragment key={label}>
        <dt>{label}</dt>
        <dd>{value}</dd>
      </Fragment>
    ))}
  </dl>
)
