import type { FunctionComponent } from 'react'
import { useTheme } from '../../theme/use-theme.ts'
import { Capacity } from './Capacity.tsx'
import { Curves } from './Curves.tsx'
import { Front } from './Front.tsx'
import { Legend } from './Legend.tsx'
import { type Look, type LookControl, PICTURES, type Picture, toggled } from './look.ts'
import { marksOf } from './marks.tsx'
import type { PictureProps } from './picture.ts'
import { Roofline } from './Roofline.tsx'
import { Stages } from './Stages.tsx'

interface Named {
  readonly text: string
  readonly label: string
  readonly key: string
}

const NAMES: Readonly<Record<Picture, Named>> = {
  curves: { text: 'Curves', label: 'Curves', key: 'C' },
  front: { text: 'Front', label: 'Latency against throughput', key: 'F' },
  stages: { text: 'Stages', label: 'Parts of a step', key: 'S' },
  roofline: { text: 'Roofline', label: 'Roofline', key: 'O' },
  capacity: { text: 'Capacity', label: 'KV capacity', key: 'K' },
}

/** Pictures by the place of their key. */
export const PICTURE_OF: ReadonlyMap<string, Picture> = new Map(
  PICTURES.map((picture) => [`Key${NAMES[picture].key}`, picture]),
)

/** All but the curves, which are drawn along an axis with what was published. */
const OTHERS: Readonly<Partial<Record<Picture, FunctionComponent<PictureProps>>>> = {
  front: Front,
  stages: Stages,
  roofline: Roofline,
  capacity: Capacity,
}

/** What a picture can measure beside what it does, and how to change it; the capacity has one measure. */
const MEASURES: Readonly<
  Partial<
    Record<
      Picture,
      {
        readonly text: string
        readonly on: (look: Look) => boolean
        readonly other: (look: Look) => Partial<Look>
      }
    >
  >
> = {
  curves: { text: 'Bands', on: ({ bands }) => bands, other: ({ bands }) => ({ bands: !bands }) },
  front: { text: 'Per GPU', on: ({ perGpu }) => perGpu, other: ({ perGpu }) => ({ perGpu: !perGpu }) },
  stages: { text: 'Shares', on: ({ shares }) => shares, other: ({ shares }) => ({ shares: !shares }) },
  roofline: {
    text: 'Whole step',
    on: ({ worked }) => worked === 'step',
    other: ({ worked }) => ({ worked: worked === 'step' ? 'attention' : 'step' }),
  },
}

const MEASURE_TITLES: Readonly<Partial<Record<Picture, string>>> = {
  curves: '95% confidence of each rate from its repeats (M)',
  front: 'Tokens/s a GPU, or of the group (M)',
  stages: 'Shares of the step, or milliseconds (M)',
  roofline: 'Bytes and operations of all of a step, or of attention alone (M)',
}

/** Changes what the picture measures. */
export const otherMeasure = ({ look, change }: LookControl): void => {
  const measure = MEASURES[look.picture]
  if (measure !== undefined) change(measure.other(look))
}

interface BarProps {
  readonly control: LookControl
  /** Whether measurements are compared, beside which the cost model can stand. */
  readonly measured: boolean
}

/** Which picture, and what it measures. */
const PictureBar = ({ control, measured }: BarProps) => {
  const { look, change } = control
  const measure = MEASURES[look.picture]
  return (
    <div className="throughput-picture-bar" role="toolbar" aria-label="Picture">
      <fieldset className="throughput-choice">
        <legend className="visually-hidden">Picture</legend>
        {PICTURES.map((picture) => (
          <button
            key={picture}
            type="button"
            className="button"
            aria-pressed={look.picture === picture}
            title={`${NAMES[picture].label} (${NAMES[picture].key})`}
            data-testid={`picture-${picture}`}
            onClick={() => change({ picture })}
          >
            {NAMES[picture].text}
          </button>
        ))}
      </fieldset>
      {measure === undefined ? null : (
        <button
          type="button"
          className="button"
          aria-pressed={measure.on(look)}
          title={MEASURE_TITLES[look.picture]}
          data-testid="measure"
          onClick={() => change(measure.other(look))}
        >
          {measure.text}
        </button>
      )}
      {look.picture !== 'curves' ? null : (
        <button
          type="button"
          className="button"
          aria-pressed={look.model && measured}
          disabled={!measured}
          title="Dashed beside each curve: what the cost model predicts for this device"
          data-testid="toggle-model"
          onClick={() => change({ model: !look.model })}
        >
          Cost model
        </button>
      )}
      {look.picture !== 'curves' && look.picture !== 'front' ? null : (
        <button
          type="button"
          className="button"
          aria-pressed={look.logarithmic}
          title="Logarithmic or linear scale (L)"
          data-testid="toggle-log"
          onClick={() => change({ logarithmic: !look.logarithmic })}
        >
          Log
        </button>
      )}
    </div>
  )
}

type Props = Omit<PictureProps, 'marks' | 'legend'> &
  Pick<Parameters<typeof Curves>[0], 'published' | 'selected' | 'onSelect'>

/** The chosen picture of the points, below what chooses it. */
export const Pictures = ({ published, selected, onSelect, ...rest }: Props) => {
  const theme = useTheme()
  const { model, control } = rest
  const { look, change } = control
  const marks = marksOf(model.arrangements, theme)
  const { picture } = look
  const Picture = OTHERS[picture]
  const legend = (
    <Legend
      arrangements={model.arrangements}
      marks={marks}
      hidden={look.hidden}
      toggle={(name) => change({ hidden: toggled(look.hidden, name) })}
      predicted={model.compared === 'gpus' ? 'all' : 'none'}
      capped={false}
    />
  )
  return (
    <section className="throughput-part" aria-label={NAMES[picture].label} data-testid="picture">
      <PictureBar control={control} measured={model.compared === 'measured'} />
      {Picture === undefined ? (
        <Curves {...rest} marks={marks} published={published} selected={selected} onSelect={onSelect} />
      ) : (
        <Picture {...rest} marks={marks} legend={legend} />
      )}
    </section>
  )
}
