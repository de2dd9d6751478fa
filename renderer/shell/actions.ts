import { copyLink } from '../state/follow-link.ts'
import { useRunForm } from '../state/form.ts'
import { useNotes } from '../state/notes.ts'
import { useOpen } from '../state/open.ts'
import { startDefaultRun, togglePause } from '../state/run-actions.ts'
import { runStateOf } from '../state/run-state.ts'
import { useSearch } from '../state/search.ts'
import { NO_SELECTION, useSelection } from '../state/selection.ts'
import { shownId, useSession } from '../state/session.ts'
import { whyNotStart } from '../state/start.ts'
import {
  canStartForm,
  canToggleSweep,
  isFormShown,
  showSweepForm,
  startFormSweep,
  toggleSweep,
} from '../state/sweep-actions.ts'
import { useSweepForm } from '../state/sweep-form.ts'
import { useTrail } from '../state/trail.ts'
import { useView, VIEW_IDS, type ViewId, viewDigit } from '../state/view.ts'
import { toggleExportMenu } from './export/menu-state.ts'
import { type KeyStroke, stroke } from './keys.ts'
import { useLayout } from './layout.ts'
import { moveStep } from './scrub.ts'

/** Something a person can do from anywhere: one table drives keys, command palette, help sheet and documentation. */
export interface Action {
  readonly id: string
  readonly title: string
  /** May be none: the palette has them all. */
  readonly keys: readonly KeyStroke[]
  /** Whether it does anything now; a key of an action that does not is left to others. */
  readonly enabled: () => boolean
  readonly run: () => void
}

const VIEW_TITLES: Readonly<Record<ViewId, string>> = {
  run: 'Show the run',
  timeline: 'Show the timeline',
  ownership: 'Show the ownership',
  pages: 'Show block tables and the pool of pages',
  merge: 'Show the merge',
  throughput: 'Show the throughput of a sweep',
  backends: 'Show what back-ends accept, refuse or replace',
  postmortem: 'Show tensor dumps and what is wrong in them',
  compare: 'Show what differs between two runs or dumps',
  scenarios: 'Show known failures, broken and fixed',
  events: 'Show events and their first cause',
  settings: 'Show settings: theme, colours, numbers, limits',
}

const always = (): boolean => true

const showsRun = (): boolean => useView.getState().view === 'run'

const showsForm = (): boolean => showsRun() || isFormShown()

const shownForm = () => (showsRun() ? useRunForm : useSweepForm).getState()

const phase = () => runStateOf(useSession.getState())

/** Keys of views that have no digit. */
const OTHER_KEYS: Partial<Readonly<Record<ViewId, readonly KeyStroke[]>>> = {
  compare: [stroke('KeyC', { ctrl: true, shift: true })],
  settings: [stroke('Comma', { ctrl: true })],
}

const viewActions: readonly Action[] = VIEW_IDS.map((view) => ({
  id: `view.${view}`,
  title: VIEW_TITLES[view],
  keys: viewDigit(view) === null ? (OTHER_KEYS[view] ?? []) : [stroke(`Digit${viewDigit(view)}`)],
  enabled: always,
  run: () => useView.getState().show(view),
}))

const hasSelection = (): boolean => {
  const now = useSelection.getState()
  return Object.keys(NO_SELECTION).some((key) => Reflect.get(now, key) !== null)
}

const hasSteps = (): boolean => (useSession.getState().openRun?.steps ?? 0) > 0

/** Whether there is something else to show than what is shown. */
const severalOpen = (): boolean => useOpen.getState().items.some(({ id }) => id !== shownId())

export const ACTIONS: readonly Action[] = [
  ...viewActions,
  {
    id: 'palette',
    title: 'Show every command, and find one by its name',
    keys: [stroke('KeyP', { ctrl: true, shift: true })],
    enabled: always,
    run: () => useLayout.getState().showPalette(!useLayout.getState().paletteOpen),
  },
  {
    id: 'search',
    title:
      'Search steps, spans, tokens, pages, requests and events of the run (where a view has / for itself: Ctrl+F)',
    keys: [stroke('Slash'), stroke('KeyF', { ctrl: true })],
    enabled: always,
    run: () => useSearch.getState().show(true),
  },
  {
    id: 'place.back',
    title: 'Back to where you were',
    keys: [stroke('ArrowLeft', { alt: true })],
    enabled: () => useTrail.getState().trail.past.length > 0,
    run: () => useTrail.getState().go('back'),
  },
  {
    id: 'place.forward',
    title: 'Forward again',
    keys: [stroke('ArrowRight', { alt: true })],
    enabled: () => useTrail.getState().trail.future.length > 0,
    run: () => useTrail.getState().go('forward'),
  },
  {
    id: 'place.link',
    title: 'Copy a link to what is shown and selected',
    keys: [stroke('KeyL', { ctrl: true, shift: true })],
    enabled: always,
    run: copyLink,
  },
  {
    id: 'export',
    title: 'Save pictures and tables of the view',
    keys: [stroke('KeyE', { ctrl: true })],
    enabled: always,
    run: toggleExportMenu,
  },
  {
    id: 'run.startDefault',
    title: 'Start the default run (no run open)',
    keys: [stroke('Enter')],
    enabled: () => {
      const { openId, desktop } = useSession.getState()
      return showsRun() && openId === null && whyNotStart(desktop, 0) === null
    },
    run: () => void startDefaultRun(),
  },
  {
    id: 'run.pause',
    title: 'Pause or resume the run',
    keys: [stroke('Space')],
    enabled: () => {
      const state = phase()
      return state?.active === true && (state.phase === 'running' || state.phase === 'paused')
    },
    run: () => void togglePause(),
  },
  {
    id: 'sweep.new',
    title: 'Set up a new sweep',
    keys: [stroke('KeyN', { ctrl: true, shift: true })],
    enabled: always,
    run: showSweepForm,
  },
  {
    id: 'sweep.start',
    title: 'Start the sweep of the form (Throughput)',
    keys: [stroke('Enter', { ctrl: true })],
    enabled: canStartForm,
    run: () => void startFormSweep(),
  },
  {
    id: 'sweep.close',
    title: 'Close the form of a sweep (Throughput)',
    keys: [stroke('Escape')],
    enabled: isFormShown,
    run: () => useSweepForm.getState().hide(),
  },
  {
    id: 'sweep.toggle',
    title: 'Pause the sweep that is measured, or go on with the one that Throughput shows',
    keys: [stroke('Space')],
    enabled: canToggleSweep,
    run: toggleSweep,
  },
  {
    id: 'form.undo',
    title: 'Undo an edit of the configuration',
    keys: [stroke('KeyZ', { ctrl: true })],
    enabled: showsForm,
    run: () => shownForm().undo(),
  },
  {
    id: 'form.redo',
    title: 'Redo it',
    keys: [stroke('KeyZ', { ctrl: true, shift: true }), stroke('KeyY', { ctrl: true })],
    enabled: showsForm,
    run: () => shownForm().redo(),
  },
  {
    id: 'note.undo',
    title: 'Undo a change of a note (Timeline)',
    keys: [stroke('KeyZ', { ctrl: true })],
    enabled: () => useView.getState().view === 'timeline' && useNotes.getState().undone.length > 0,
    run: () => void useNotes.getState().undo(),
  },
  {
    id: 'open.bundle',
    title: 'Open bundles',
    keys: [stroke('KeyO', { ctrl: true })],
    enabled: always,
    run: () => void useSession.getState().openBundle(),
  },
  {
    id: 'open.dump',
    title: 'Open files of a tensor dump',
    keys: [stroke('KeyO', { ctrl: true, shift: true })],
    enabled: always,
    run: () => void useSession.getState().openDump('files'),
  },
  {
    id: 'open.next',
    title: 'Show the next of what is open',
    keys: [stroke('Tab', { ctrl: true })],
    enabled: severalOpen,
    run: () => useSession.getState().showNeighbour(1),
  },
  {
    id: 'open.previous',
    title: 'Show the previous of what is open',
    keys: [stroke('Tab', { ctrl: true, shift: true })],
    enabled: severalOpen,
    run: () => useSession.getState().showNeighbour(-1),
  },
  {
    id: 'open.close',
    title: 'Close what is shown; a run in progress goes on',
    keys: [stroke('KeyW', { ctrl: true })],
    enabled: () => shownId() !== null,
    run: () => useSession.getState().closeItem(shownId() ?? ''),
  },
  {
    id: 'step.previous',
    title: 'Previous step',
    keys: [stroke('BracketLeft')],
    enabled: hasSteps,
    run: () => moveStep(-1),
  },
  {
    id: 'step.next',
    title: 'Next step',
    keys: [stroke('BracketRight')],
    enabled: hasSteps,
    run: () => moveStep(1),
  },
  {
    id: 'selection.clear',
    title: 'Clear the selection',
    keys: [stroke('Escape')],
    enabled: hasSelection,
    run: () => useSelection.getState().clear(),
  },
  {
    id: 'panel.rail',
    title: 'Widen or narrow the rail of views',
    keys: [stroke('KeyB', { ctrl: true })],
    enabled: always,
    run: () => useLayout.getState().toggleRail(),
  },
  {
    id: 'panel.inspector',
    title: 'Show or hide the inspector',
    keys: [stroke('KeyI')],
    enabled: always,
    run: () => useLayout.getState().toggleInspector(),
  },
  {
    id: 'help.view',
    title: 'Explain the view, with its formula',
    keys: [stroke('F1')],
    enabled: always,
    run: () => useLayout.getState().toggleViewHelp(),
  },
  {
    id: 'help',
    title: 'Show or hide the sheet of keys and terms',
    keys: [stroke('Slash', { shift: true })],
    enabled: always,
    run: () => useLayout.getState().showHelp(!useLayout.getState().helpOpen),
  },
]
