import './export.css'
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { foundAt } from '../../export/found.ts'
import { waysOf } from '../../export/ways.ts'
import { EXPORT_BUTTON, foundNow, type OpenMenu, useExportMenu } from './menu-state.ts'

/** The right button of the mouse, or the key for it, on a picture or table opens its menu. */
const onContextMenu = (event: MouseEvent): void => {
  if (!(event.target instanceof Element) || event.target.closest('.frame-view') === null) return
  const found = foundAt(foundNow(), event.target)
  if (found === undefined) return
  event.preventDefault()
  useExportMenu.getState().show({ all: [found], x: event.clientX, y: event.clientY, whole: false })
}

/** The first of its buttons, or the menu itself, so that Esc closes it. */
const focusFirst = (box: HTMLElement | null): void => (box?.querySelector('button') ?? box)?.focus()

const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/** What of the view can be saved and as what, where it was asked for. */
export const ExportMenu = () => {
  const open = useExportMenu((s) => s.open)
  useEffect(() => {
    window.addEventListener('contextmenu', onContextMenu)
    return () => window.removeEventListener('contextmenu', onContextMenu)
  }, [])
  return open === null ? null : <Panel key={`${open.x} ${open.y}`} {...open} />
}

const REFRESH_MS = 300

const Panel = ({ all, x, y, whole }: OpenMenu) => {
  const { close, refresh } = useExportMenu()
  const box = useRef<HTMLDivElement>(null)
  const before = useRef(document.activeElement)
  const [place, setPlace] = useState({ left: x, top: y })

  // biome-ignore lint/correctness/useExhaustiveDependencies: its size depends on what it offers
  useLayoutEffect(() => {
    const { width, height } = box.current?.getBoundingClientRect() ?? { width: 0, height: 0 }
    const within = (at: number, size: number, room: number): number =>
      Math.max(4, Math.min(at, room - size - 4))
    const left = within(whole ? x - width : x, width, window.innerWidth)
    setPlace({ left, top: within(y, height, window.innerHeight) })
    if (box.current?.querySelector(':focus') == null) focusFirst(box.current)
  }, [x, y, whole, all])
  useEffect(() => {
    // What the view still reads is offered once it is there.
    const timer = setInterval(refresh, REFRESH_MS)
    return () => clearInterval(timer)
  }, [refresh])
  useEffect(() => {
    const outside = (event: Event): void => {
      if (!(event.target instanceof Element) || box.current?.contains(event.target) === true) return
      // Its button closes it as well.
      if (event.target.closest(`#${EXPORT_BUTTON}`) === null) close()
    }
    window.addEventListener('pointerdown', outside, true)
    window.addEventListener('resize', close)
    return () => {
      window.removeEventListener('pointerdown', outside, true)
      window.removeEventListener('resize', close)
    }
  }, [close])

  /** Closes and gives the focus back. */
  const leave = (): void => {
    close()
    if (before.current instanceof HTMLElement || before.current instanceof SVGElement) before.current.focus()
  }
  const onKey = (event: KeyboardEvent): void => {
    // Keys of the view behind the menu are not meant.
    event.stopPropagation()
    if (event.code === 'Escape' || event.code === 'Tab') {
      event.preventDefault()
      leave()
    }
    const by = MOVES[event.code]
    if (by === undefined) return
    event.preventDefault()
    const buttons = Array.from(box.current?.querySelectorAll('button') ?? [])
    const at = buttons.findIndex((button) => button.matches(':focus'))
    buttons[(at + by + buttons.length) % buttons.length]?.focus()
  }

  return (
    <div
      ref={box}
      className="export-menu panel"
      style={place}
      role="dialog"
      aria-label="Save pictures and tables"
      tabIndex={-1}
      data-testid="export-menu"
      onKeyDown={onKey}
    >
      {all.length === 0 ? (
        <p className="export-nothing">
          Nothing here can be saved yet. Pictures and tables are there once a run or a dump is open.
        </p>
      ) : null}
      {all.map((found) => (
        <fieldset key={`${found.kind} ${found.name}`} className="export-thing" aria-label={found.name}>
          <span className="export-name">{found.name}</span>
          {waysOf(found).map(({ title, run }) => (
            <button
              key={title}
              type="button"
              className="button"
              aria-label={`${title}: ${found.name}`}
              onClick={() => {
                leave()
                void run(found)
              }}
            >
              {title}
            </button>
          ))}
        </fieldset>
      ))}
    </div>
  )
}
