import type { ViewId } from '../state/view.ts'

export interface ViewKey {
  readonly keys: string
  readonly title: string
}

/** Keys that a view handles itself while it is shown, for the help sheet. */
export const VIEW_KEYS: Readonly<Record<ViewId, readonly ViewKey[]>> = {
  run: [],
  timeline: [
    { keys: 'W S', title: 'Zoom in and out' },
    { keys: 'A D', title: 'Pan left and right' },
    { keys: '0', title: 'Show the whole run' },
    { keys: 'Backspace', title: 'Undo a zoom' },
    { keys: 'F', title: 'Show the selected span, area or step closely' },
    { keys: ', .', title: 'Previous and next span of the rank (also ← →)' },
    { keys: 'N P', title: 'Next and previous rank' },
    { keys: 'R', title: 'Mark the selected span, or what is shown, as an area (Shift and drag: any)' },
    { keys: 'M', title: 'Set or take a mark at the pointer (Shift+M: take all)' },
    { keys: 'Esc', title: 'Let go of the area' },
    { keys: 'F', title: 'Zoom to the selected span or area' },
    { keys: 'R', title: 'Make the selected span an area' },
    { keys: ', .', title: 'Previous and next span of the rank' },
    { keys: 'P N', title: 'Previous and next rank' },
  ],
  ownership: [
    { keys: 'W S', title: 'Zoom in and out' },
    { keys: 'A D', title: 'Pan left and right' },
    { keys: '0', title: 'Show all tokens' },
    { keys: 'F', title: 'Zoom to the selected token' },
    { keys: 'Backspace', title: 'Undo a zoom' },
    { keys: '← →', title: 'Previous and next token (Shift: a round of all ranks)' },
    { keys: 'Home End', title: 'First and last token' },
  ],
  merge: [
    { keys: '↑ ↓', title: 'Previous and next row' },
    { keys: '← →', title: 'Previous and next head' },
  ],
}
