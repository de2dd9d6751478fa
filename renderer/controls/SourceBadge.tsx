/** Says beside a number that it was not measured as it is. */
export const SourceBadge = ({ source }: { readonly source: string | undefined }) =>
  source === undefined ? null : <span className="badge source-badge">{source}</span>
