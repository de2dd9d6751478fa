import type { Place } from '../state/place.ts'
import { useTrail } from '../state/trail.ts'
import { VIEW_TITLES } from '../state/view.ts'
import { BackIcon, ForwardIcon } from './icons.tsx'
import { selectionText } from './selection-words.ts'

/** A place in words: `Timeline, step 3, rank 1`. */
const placeText = ({ view, selection }: Place): string =>
  [VIEW_TITLES[view], selectionText(selection)].filter((text) => text !== '').join(', ')

const WAYS = [
  { way: 'back', word: 'Back', keys: 'Alt+←', icon: BackIcon },
  { way: 'forward', word: 'Forward', keys: 'Alt+→', icon: ForwardIcon },
] as const

/** The way back and forward over the places of this session; each says where it goes. */
export const PlaceButtons = () => {
  const { trail, go } = useTrail()
  const targets = { back: trail.past.at(-1), forward: trail.future[0] }
  return (
    <fieldset className="place-buttons">
      <legend className="visually-hidden">Places</legend>
      {WAYS.map(({ way, word, keys, icon: Icon }) => {
        const target = targets[way]
        return (
          <button
            key={way}
            type="button"
            className="button button-quiet button-icon"
            title={target === undefined ? `${word} (${keys})` : `${word}: ${placeText(target)} (${keys})`}
            aria-label={word}
            disabled={target === undefined}
            data-testid={`place-${way}`}
            onClick={() => go(way)}
          >
            <Icon />
          </button>
        )
      })}
    </fieldset>
  )
}
