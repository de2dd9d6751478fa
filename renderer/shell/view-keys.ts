import type { ViewId } from '../state/view.ts'

export interface ViewKey {
  readonly keys: string
  readonly title: string
  /** What each of several keys does, for the command palette. */
  readonly each?: readonly string[]
}

/** Keys that a view handles itself while it is shown, for the help sheet and the command palette. */
export const VIEW_KEYS: Readonly<Record<ViewId, readonly ViewKey[]>> = {
  run: [],
  settings: [],
  timeline: [
    { keys: 'W S', title: 'Zoom in and out (Ctrl and drag: to a part)', each: ['Zoom in', 'Zoom out'] },
    { keys: 'A D', title: 'Pan left and right', each: ['Pan left', 'Pan right'] },
    { keys: '0', title: 'Show the whole run' },
    { keys: 'Backspace', title: 'Undo a zoom' },
    { keys: 'F', title: 'Zoom to the marked area, selected span or selected step' },
    {
      keys: ', .',
      title: 'Previous and next span of the rank (also ← →)',
      each: ['Previous span of the rank', 'Next span of the rank'],
    },
    {
      keys: 'P N',
      title: 'Rank of the lane above and below (also ↑ ↓; Shift+↑ ↓: move the lane of the rank)',
      each: ['Rank of the lane above', 'Rank of the lane below'],
    },
    { keys: 'G', title: 'Fold the lane of the rank to its graph replays, or unfold it (Shift: all lanes)' },
    {
      keys: 'R',
      title: 'Make the selected span or step, or what is shown, an area (Shift and drag: any part)',
    },
    {
      keys: 'M',
      title:
        'Set or take away a mark at the pointer or selected span (Shift: take all away; drag on the ruler: two)',
    },
    { keys: 'C', title: 'Copy the time between the last two marks' },
    { keys: 'V', title: 'What the lanes show, as a table' },
    { keys: 'E', title: 'Write a note on the selected span; all notes of the bundle' },
    { keys: 'L', title: 'Lines from the last rank of a collective to those that waited for it' },
    { keys: 'K', title: 'Critical path of the selected step, and its slowest rank' },
    {
      keys: 'T',
      title: 'Statistics of the area, the selected step or the run (Shift: pin the lane of the rank)',
    },
  ],
  ownership: [
    { keys: 'W S', title: 'Zoom in and out', each: ['Zoom in', 'Zoom out'] },
    { keys: 'A D', title: 'Pan left and right', each: ['Pan left', 'Pan right'] },
    { keys: '0', title: 'Show all tokens' },
    { keys: 'F', title: 'Zoom to the selected token' },
    { keys: 'Backspace', title: 'Undo a zoom' },
    {
      keys: '← →',
      title: 'Previous and next token (Shift: a round of all ranks)',
      each: ['Previous token', 'Next token'],
    },
    { keys: 'Home End', title: 'First and last token', each: ['First token', 'Last token'] },
    { keys: 'R', title: 'Tokens along a strip or wound on a ring' },
  ],
  pages: [
    { keys: '↑ ↓', title: 'Previous and next request', each: ['Previous request', 'Next request'] },
    {
      keys: '← →',
      title: 'Previous and next column of the block table',
      each: ['Previous column of the block table', 'Next column of the block table'],
    },
    {
      keys: 'Home End',
      title: 'Column of the first and of the newest token',
      each: ['Column of the first token', 'Column of the newest token'],
    },
    { keys: 'P N', title: 'Previous and next rank', each: ['Previous rank', 'Next rank'] },
    { keys: 'E', title: 'Next cell that breaks an invariant' },
    { keys: 'C', title: 'Colour by owner, age or fill' },
    {
      keys: 'W S',
      title: 'Zoom the block table (Shift: the pool)',
      each: ['Zoom into the block table', 'Zoom out of the block table'],
    },
    { keys: '0', title: 'Show the whole block table and pool' },
    { keys: 'F', title: 'Show the selected cell and its page' },
    { keys: 'T', title: 'Tables or picture' },
    { keys: 'G', title: 'Go to a page of the pool' },
  ],
  merge: [
    { keys: '↑ ↓', title: 'Previous and next row', each: ['Previous row', 'Next row'] },
    { keys: '← →', title: 'Previous and next head', each: ['Previous head', 'Next head'] },
    { keys: 'B', title: 'Show lse in base e or 2' },
    { keys: 'M', title: 'Errors or weights of every row and head' },
    { keys: 'C', title: 'Merged vector, what mistakes would make of it, or the captured steps' },
  ],
  throughput: [
    {
      keys: '← →',
      title: 'Previous and next concurrency of the map',
      each: ['Previous concurrency of the map', 'Next concurrency of the map'],
    },
    {
      keys: '↑ ↓',
      title: 'Previous and next context of the map',
      each: ['Previous context of the map', 'Next context of the map'],
    },
    {
      keys: 'P N',
      title: 'Previous and next arrangement of the selected cell',
      each: ['Previous arrangement of the selected cell', 'Next arrangement of the selected cell'],
    },
    {
      keys: 'C F S O K',
      title: 'Curves, latency against throughput, parts of a step, roofline, KV capacity',
      each: [
        'Curves',
        'Latency against throughput (Pareto front)',
        'Parts of a step by arrangement',
        'Roofline',
        'KV capacity',
      ],
    },
    {
      keys: 'M',
      title:
        'What the picture measures: bands; a GPU or the group; shares or ms; attention or the whole step',
    },
    { keys: 'X', title: 'Over concurrency or over context' },
    { keys: 'L', title: 'Rates on a logarithmic or a linear scale' },
    { keys: 'R', title: 'Read the sweep again' },
  ],
  backends: [
    {
      keys: '↑ ↓',
      title: 'Previous and next feature (Page up and Page down: ten)',
      each: ['Previous feature', 'Next feature'],
    },
    {
      keys: '← →',
      title: 'Previous and next back-end (Home and End: first and last)',
      each: ['Previous back-end', 'Next back-end'],
    },
    { keys: '/', title: 'Filter by back-ends, features and rules' },
    { keys: 'C', title: 'Copy the configuration of the picked cell' },
    { keys: 'T', title: 'Take it to the form of Run' },
  ],
  postmortem: [
    {
      keys: '↑ ↓',
      title: 'Previous and next row of the tensor',
      each: ['Previous row of the tensor', 'Next row of the tensor'],
    },
    {
      keys: '← →',
      title: 'Previous and next head, or what its columns are',
      each: ['Previous head, or what its columns are', 'Next head, or what its columns are'],
    },
    { keys: 'P N', title: 'Previous and next rank', each: ['Previous rank', 'Next rank'] },
    { keys: ', .', title: 'Previous and next tensor', each: ['Previous tensor', 'Next tensor'] },
    {
      keys: 'PageUp PageDown',
      title: 'Previous and next step and layer',
      each: ['Previous step and layer', 'Next step and layer'],
    },
    { keys: 'M', title: 'Next measure of the map' },
    { keys: 'L', title: 'Histogram in equal steps or by powers of two' },
    { keys: 'C', title: 'Copy the values of the picked cell' },
  ],
  compare: [
    { keys: '↑ ↓', title: 'Previous and next stage', each: ['Previous stage', 'Next stage'] },
    {
      keys: '← →',
      title: 'Previous and next step of the picture',
      each: ['Previous step of the picture', 'Next step of the picture'],
    },
    { keys: 'X', title: 'Swap A and B' },
    { keys: 'F', title: 'Go to where numbers diverge first' },
    { keys: 'T', title: 'Differences over steps as a table or a picture' },
    { keys: 'R', title: 'Read both again' },
  ],
  scenarios: [
    { keys: '↑ ↓', title: 'Previous and next scenario', each: ['Previous scenario', 'Next scenario'] },
    { keys: 'R', title: 'Run it broken and fixed' },
    { keys: '/', title: 'Filter by names, back-ends, faults and sources' },
  ],
  events: [
    {
      keys: '↑ ↓',
      title: 'Previous and next group or event',
      each: ['Previous group or event', 'Next group or event'],
    },
    {
      keys: '→ ←',
      title: 'List the events of a group, or close it',
      each: ['List the events of the group', 'Close the group'],
    },
    {
      keys: 'PageUp PageDown',
      title: 'Previous and next page of events',
      each: ['Previous page of events', 'Next page of events'],
    },
    {
      keys: 'T M O',
      title: 'Show the event, or the first cause, in Timeline, Merge or Ownership',
      each: ['Show the event in Timeline', 'Show the event in Merge', 'Show the event in Ownership'],
    },
    { keys: 'F', title: 'Select the first cause' },
    { keys: 'S', title: 'Only the selected step, layer, rank and request' },
    { keys: 'Backspace', title: 'Leave nothing out' },
    { keys: 'L', title: 'Events of steps or rows of partials' },
    { keys: 'G', title: 'Count by kind, rank, layer, request or step' },
  ],
}
