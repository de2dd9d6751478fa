import type { ColourMode } from './look.ts'

const RAMP: Readonly<Record<ColourMode, readonly [string, string, string] | null>> = {
  owner: null,
  age: ['taken at the first step', 'at the last', 'step inside'],
  fill: ['empty', 'full', 'keys inside'],
}

/** What colours and textures say. */
export const Legend = ({ mode, hasAges }: { readonly mode: ColourMode; readonly hasAges: boolean }) => {
  const ramp = RAMP[mode]
  return (
    <ul className="pages-legend" aria-label="Legend">
      <li>
        {ramp === null ? (
          <>
            <span className="pages-key pages-key-owner" /> one shade a request, whose number is in its pages
          </>
        ) : mode === 'age' && !hasAges ? (
          'not known when pages were taken'
        ) : (
          <>
            {ramp[0]} <span className="pages-key pages-key-ramp" /> {ramp[1]}, {ramp[2]}
          </>
        )}
      </li>
      <li>
        <span className="pages-key pages-key-reserved" /> no key here yet
      </li>
      <li>
        <span className="pages-key pages-key-stale" /> stale, means nothing
      </li>
      <li>
        <span className="pages-key pages-key-free" /> free, −1
      </li>
      <li>
        <span className="pages-key pages-key-bad" /> wrong
      </li>
      <li>
        <span className="pages-key pages-key-newest" /> newest token
      </li>
      <li
        className="pages-formula"
        title="t: token, P: tokens of a page, c: dcp size; the owner alone has a slot"
      >
        {'column = ⌊t / (P·c)⌋, slot = page·P + local index mod P'}
      </li>
    </ul>
  )
}
