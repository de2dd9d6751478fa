import { useViewKeys } from '../../controls/use-view-keys.ts'
import { type OwnershipPicture, useCalculator } from '../../state/calculator.ts'

const PICTURES: readonly { picture: OwnershipPicture; word: string; title: string }[] = [
  { picture: 'strip', word: 'Strip', title: 'Tokens along a line, the shards of the ranks below (R)' },
  { picture: 'ring', word: 'Ring', title: 'Tokens wound on a ring, a sector to each rank (R)' },
]

/** How the tokens are drawn. */
export const PictureChoice = () => {
  const { picture: shown, draw } = useCalculator()
  useViewKeys((event) => {
    if (event.code !== 'KeyR') return false
    draw(shown === 'strip' ? 'ring' : 'strip')
    return true
  })
  return (
    <fieldset className="ownership-modes">
      <legend>Picture</legend>
      {PICTURES.map(({ picture, word, title }) => (
        <button
          key={picture}
          type="button"
          className="button"
          title={title}
          aria-pressed={shown === picture}
          data-testid={`ownership-${picture}-choice`}
          onClick={() => draw(picture)}
        >
          {word}
        </button>
      ))}
    </fieldset>
  )
}
