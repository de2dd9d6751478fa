import { type Caveats, caveatOf } from '../../app/trace/caveat.ts'

/** What of the open run is not what it looks like: one word here, the sentences for the pointer and for readers. */
export const CaveatNote = ({ manifest }: { readonly manifest: Caveats }) => {
  const caveat = caveatOf(manifest)
  return caveat === undefined ? null : (
    <span className="badge source-badge" title={caveat.text} data-testid="caveat-note">
      {caveat.source}
      <span className="visually-hidden">: {caveat.text}</span>
    </span>
  )
}
