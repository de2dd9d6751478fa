import { type PointerEvent, useRef } from 'react'

interface Props {
  /** The border that it is: the left one of a panel at the right, or the top one of a panel below. */
  readonly edge?: 'left' | 'top'
  readonly label: string
  readonly value: number
  readonly min: number
  readonly max: number
  readonly onChange: (value: number) => void
}

const STEP = 16

/** A border of a panel: dragged, or moved with the arrow keys, it changes the panel's width or height. */
export const Resizer = ({ edge = 'left', label, value, min, max, onChange }: Props) => {
  const drag = useRef<{ at: number; value: number } | null>(null)
  const isLeft = edge === 'left'
  const placeOf = (event: PointerEvent): number => (isLeft ? event.clientX : event.clientY)
  const [more, less] = isLeft ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown']
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that is dragged; <hr> cannot be
    <div
      className={isLeft ? 'resizer' : 'resizer resizer-top'}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={isLeft ? 'vertical' : 'horizontal'}
      aria-valuenow={value}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        drag.current = { at: placeOf(event), value }
      }}
      onPointerMove={(event) => {
        if (drag.current !== null) onChange(drag.current.value + drag.current.at - placeOf(event))
      }}
      onPointerUp={() => {
        drag.current = null
      }}
      onPointerCancel={() => {
        drag.current = null
      }}
      onKeyDown={(event) => {
        const by = event.code === more ? STEP : event.code === less ? -STEP : 0
        if (by === 0) return
        event.preventDefault()
        onChange(value + by)
      }}
    />
  )
}
