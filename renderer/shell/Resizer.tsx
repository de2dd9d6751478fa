import { useRef } from 'react'

interface Props {
  readonly label: string
  readonly value: number
  readonly min: number
  readonly max: number
  readonly onChange: (value: number) => void
}

const STEP = 16

/** The left border of a panel at the right: dragged, or moved with the arrow keys, it changes the panel's width. */
export const Resizer = ({ label, value, min, max, onChange }: Props) => {
  const drag = useRef<{ x: number; value: number } | null>(null)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that is dragged; <hr> cannot be
    <div
      className="resizer"
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={value}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        drag.current = { x: event.clientX, value }
      }}
      onPointerMove={(event) => {
        if (drag.current !== null) onChange(drag.current.value + drag.current.x - event.clientX)
      }}
      onPointerUp={() => {
        drag.current = null
      }}
      onPointerCancel={() => {
        drag.current = null
      }}
      onKeyDown={(event) => {
        const by = event.code === 'ArrowLeft' ? STEP : event.code === 'ArrowRight' ? -STEP : 0
        if (by === 0) return
        event.preventDefault()
        onChange(value + by)
      }}
    />
  )
}
