import { type KeyboardEvent, useRef } from 'react'
import { DUMP_PARTS, type DumpPart, useDump } from '../../state/dump.ts'
import { neighbour } from './model.ts'

export const PART_WORDS: Readonly<Record<DumpPart, string>> = {
  findings: 'Findings',
  tensors: 'Tensors',
  contents: 'Files and questions',
}

/** The part that a key leads to from `part`; undefined for keys that tabs do not take. */
export const partAt = (part: DumpPart, code: string): DumpPart | undefined => {
  switch (code) {
    case 'ArrowLeft':
      return neighbour(DUMP_PARTS, part, -1)
    case 'ArrowRight':
      return neighbour(DUMP_PARTS, part, 1)
    case 'Home':
      return DUMP_PARTS[0]
    case 'End':
      return DUMP_PARTS.at(-1)
    default:
      return undefined
  }
}

/** The parts of a dump. Tab reaches the shown one, arrows the others. */
export const PartTabs = ({ problems }: { readonly problems: number }) => {
  const { part, look } = useDump()
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent): void => {
    const next = partAt(part, event.code)
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return
    event.preventDefault()
    look(next)
    list.current?.querySelector<HTMLButtonElement>(`[data-part="${next}"]`)?.focus()
  }
  return (
    <div className="pm-tabs" role="tablist" aria-label="Parts of the dump" ref={list} onKeyDown={move}>
      {DUMP_PARTS.map((one) => (
        <button
          key={one}
          type="button"
          role="tab"
          className="pm-tab"
          aria-selected={part === one}
          aria-controls="pm-part"
          tabIndex={part === one ? 0 : -1}
          data-part={one}
          data-testid={`pm-tab-${one}`}
          onClick={() => look(one)}
        >
          {PART_WORDS[one]}
          {one === 'contents' && problems > 0 ? (
            <span className="badge badge-warn num">{problems}</span>
          ) : null}
        </button>
      ))}
    </div>
  )
}
