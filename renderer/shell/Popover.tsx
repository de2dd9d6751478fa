import { type ReactNode, useEffect, useRef, useState } from 'react'

interface Props {
  readonly label: ReactNode
  readonly title: string
  readonly className?: string
  readonly side?: 'below' | 'above'
  readonly testId?: string
  /** Drawn while open; `close` puts it away. */
  readonly children: (close: () => void) => ReactNode
}

/** A button with a panel that closes by Esc, by a click elsewhere, or when focus leaves. */
export const Popover = ({ label, title, className = 'button', side = 'below', testId, children }: Props) => {
  const [open, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)

  useEffect(() => {
    if (!open) return
    const outside = (event: PointerEvent): void => {
      if (event.target instanceof Node && box.current?.contains(event.target) !== true) setOpen(false)
    }
    const closeByKey = (event: KeyboardEvent): void => {
      if (event.code !== 'Escape') return
      event.preventDefault()
      setOpen(false)
      button.current?.focus()
    }
    window.addEventListener('pointerdown', outside, true)
    window.addEventListener('keydown', closeByKey, true)
    return () => {
      window.removeEventListener('pointerdown', outside, true)
      window.removeEventListener('keydown', closeByKey, true)
    }
  }, [open])

  return (
    <div className="popover" ref={box}>
      <button
        ref={button}
        type="button"
        className={className}
        title={title}
        aria-expanded={open}
        data-testid={testId}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open ? <div className={`popover-panel popover-${side}`}>{children(() => setOpen(false))}</div> : null}
    </div>
  )
}
