import type { Found } from '../../export/found.ts'
import { waysOf } from '../../export/ways.ts'
import { nameOf, useOpen } from '../../state/open.ts'
import { shownId, useSession } from '../../state/session.ts'
import { VIEW_TITLES, type ViewId } from '../../state/view.ts'
import { ACTIONS } from '../actions.ts'
import { codeOf, keyText } from '../keys.ts'
import { VIEW_KEYS } from '../view-keys.ts'
import { match } from './match.ts'

/** One line of the palette. */
export interface Command {
  readonly id: string
  /** Where it belongs: a view, or what it opens. */
  readonly kind: string
  readonly title: string
  readonly keys: readonly string[]
  /** Whether it does anything now. */
  readonly enabled: boolean
  readonly run: () => void
}

/** Presses a key as on the keyboard, for the view that is shown. */
const press = (name: string): void => {
  for (const type of ['keydown', 'keyup'])
    document.body.dispatchEvent(
      new KeyboardEvent(type, { code: codeOf(name), key: name, bubbles: true, cancelable: true }),
    )
}

const actionCommands = (): readonly Command[] =>
  ACTIONS.filter(({ id }) => id !== 'palette').map(({ id, title, keys, enabled, run }) => ({
    id,
    kind: 'Everywhere',
    title,
    keys: keys.map(keyText),
    enabled: enabled(),
    run,
  }))

/** What the keys of a view do, a line for each key. */
export const viewCommands = (view: ViewId): readonly Command[] =>
  VIEW_KEYS[view].flatMap(({ keys, title, each }) =>
    keys.split(' ').map((key, i) => ({
      id: `key.${view}.${key}`,
      kind: VIEW_TITLES[view],
      title: each?.[i] ?? title,
      keys: [key],
      enabled: true,
      run: () => press(key),
    })),
  )

const openCommands = (): readonly Command[] => {
  const session = useSession.getState()
  const { runs, openRunById, desktop, showDump, showItem, closeItem } = session
  const { items } = useOpen.getState()
  const isOpen = (id: string): boolean => items.some((item) => item.id === id)
  return [
    ...items.flatMap((item) => [
      {
        id: `switch.${item.id}`,
        kind: 'Open',
        title: `Show ${nameOf(item, session)}`,
        keys: [],
        enabled: item.id !== shownId(),
        run: () => showItem(item),
      },
      {
        id: `close.${item.id}`,
        kind: 'Open',
        title: `Close ${nameOf(item, session)}`,
        keys: [],
        enabled: true,
        run: () => closeItem(item.id),
      },
    ]),
    ...runs
      .filter(({ id }) => !isOpen(id))
      .map(({ id, name, title }) => ({
        id: `run.${id}`,
        kind: 'Run',
        title: `Open ${name}: ${title}`,
        keys: [],
        enabled: true,
        run: () => void openRunById(id),
      })),
    ...(desktop?.dumps ?? [])
      .filter(({ id }) => !isOpen(id))
      .map(({ id, name }) => ({
        id: `dump.${id}`,
        kind: 'Dump',
        title: `Open ${name}`,
        keys: [],
        enabled: true,
        run: () => showDump(id),
      })),
  ]
}

/** What of the shown view can be saved, and as what. */
const exportCommands = (all: readonly Found[]): readonly Command[] =>
  all.flatMap((found) =>
    waysOf(found).map(({ title, run }) => ({
      id: `export.${found.kind}.${found.name}.${title}`,
      kind: 'Export',
      title: `${title}: ${found.name}`,
      keys: [],
      enabled: true,
      run: () => void run(found),
    })),
  )

/** Everything that can be done in `view`: its own keys, what of it can be saved (`found`), what works everywhere, what can be opened. */
export const commandsIn = (view: ViewId, found: readonly Found[]): readonly Command[] => [
  ...viewCommands(view),
  ...exportCommands(found),
  ...actionCommands(),
  ...openCommands(),
]

/** A command that fits, and which characters of its title do. */
export interface Fit {
  readonly command: Command
  readonly at: readonly number[]
}

/** Commands that fit `words`, the best first; what does nothing now comes last. */
export const fitting = (commands: readonly Command[], words: string): readonly Fit[] =>
  commands
    .flatMap((command) => {
      const { title, kind } = command
      // The kind is found too: `timeline zoom`.
      const found = match(words, `${title} ${kind}`)
      return found === null
        ? []
        : [{ command, score: found.score, at: found.at.filter((i) => i < title.length) }]
    })
    .sort((a, b) => Number(b.command.enabled) - Number(a.command.enabled) || b.score - a.score)
