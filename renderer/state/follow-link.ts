import type { RunInfo } from '../../app/protocol/store.ts'
import { contextLens } from '../../app/run/engine-config.ts'
import { type Link, type LinkedRun, linkedRun, linkText, PARTS, parseLink } from './link.ts'
import { tell } from './messages.ts'
import { goTo, placeNow } from './place.ts'
import { SELECTION_KEYS, type Selection } from './selection.ts'
import { useSession } from './session.ts'
import { request } from './store-client.ts'

/** A link to the present place. */
export const linkNow = (): string => {
  const place = placeNow()
  const { openRun, runs } = useSession.getState()
  const known = runs.find(({ id }) => id === place.run)
  const [name, made] =
    openRun !== null && openRun.id === place.run
      ? [openRun.manifest.name, openRun.manifest.createdAt]
      : [known?.name ?? '', known?.createdAt ?? '']
  return linkText({ ...place, run: place.run === null ? null : linkedRun(place.run, name, made) })
}

export const copyLink = (): void => {
  navigator.clipboard.writeText(linkNow()).then(
    () => tell('info', 'A link to this place is on the clipboard.'),
    (error: unknown) =>
      tell('error', `Nothing was copied: ${error instanceof Error ? error.message : String(error)}`),
  )
}

/** How many of a part a run has; null where it does not say, or may get more. */
const countsOf = ({ manifest, steps, ranks }: RunInfo): Partial<Record<keyof Selection, number | null>> => {
  const { model, workload } = manifest.config
  return {
    step: manifest.status === 'running' ? null : steps,
    rank: ranks,
    layer: model.layers,
    request: contextLens(manifest.config).length,
    qIndex: workload.qLen,
    head: model.heads,
  }
}

/** The parts of a selection that a run has, and in words those that it does not have. */
export const selectionWithin = (
  selection: Selection,
  info: RunInfo,
): { readonly selection: Selection; readonly lacking: readonly string[] } => {
  const counts = countsOf(info)
  const lacking = SELECTION_KEYS.filter((key) => {
    const [value, count] = [selection[key], counts[key]]
    return value !== null && count != null && value >= count
  })
  return {
    selection: { ...selection, ...Object.fromEntries(lacking.map((key) => [key, null])) },
    lacking: lacking.map((key) => `${PARTS[key]} ${selection[key]}`),
  }
}

/** The link whose run is not known yet. */
let waiting: (Link & { readonly run: LinkedRun }) | null = null

/** Whether a run of this name and time is the one that a link is to. */
const isMeant = (run: LinkedRun, name: string, made: string): boolean => {
  const own = linkedRun(run.id, name, made)
  return own.name === run.name && own.made === run.made && made !== ''
}

const isSame = (run: LinkedRun, { manifest }: RunInfo): boolean =>
  isMeant(run, manifest.name, manifest.createdAt)

const goInto = (link: Link, info: RunInfo): void => {
  const { selection, lacking } = selectionWithin(link.selection, info)
  if (lacking.length > 0)
    tell('warning', `The link selects what the run does not have, which was left out: ${lacking.join(', ')}.`)
  goTo({ ...link, run: info.id, selection })
}

/** The run of a link as this machine knows it, by its id or as one that is the same; null where it does not. */
const runOf = async (link: Link & { readonly run: LinkedRun }): Promise<RunInfo | null> => {
  // Also tells the store which runs there are.
  const runs = await request('listRuns', {})
  const { id } = link.run
  // One that was opened from elsewhere is in no list.
  const listed = runs.some((run) => run.id === id)
  const byId = await request('runInfo', { run: id }).catch((error: unknown) => {
    if (listed) throw error
    return null
  })
  const { openRun } = useSession.getState()
  if (byId === null && openRun !== null && isSame(link.run, openRun)) return openRun
  const alike = runs.find(({ name, createdAt }) => isMeant(link.run, name, createdAt))
  return byId ?? (alike === undefined ? null : request('runInfo', { run: alike.id }))
}

/** The link without what it compares with where that is not known here, which is told. */
const withKnownOther = async (link: Link): Promise<Link> => {
  const { other } = link
  if (other === null) return link
  const dumps = useSession.getState().desktop?.dumps ?? []
  const runs = dumps.some(({ id }) => id === other) ? [] : await request('listRuns', {}).catch(() => [])
  if ([...dumps, ...runs].some(({ id }) => id === other)) return link
  tell(
    'warning',
    'What the link compares with is not known here: it was not opened on this machine. Open it, and choose it as B.',
  )
  return { ...link, other: null }
}

/** Goes where a link says. It may come from anywhere; what is wrong with it is told, and changes nothing. */
export const followLink = async (text: string): Promise<void> => {
  const parsed = parseLink(text)
  if (!parsed.ok) return tell('error', `The link was not followed: ${parsed.why}.`)
  const link = await withKnownOther(parsed.link)
  waiting = null
  if (
    link.dump !== null &&
    useSession.getState().desktop?.dumps.every(({ id }) => id !== link.dump) !== false
  )
    return tell(
      'error',
      'The link is to a tensor dump that was not opened here. Open its files, then follow it again.',
    )
  const { run } = link
  // Without a run it is about what is open.
  if (run === null) {
    const now = placeNow()
    return goTo({ ...link, run: now.run, dump: link.dump ?? now.dump })
  }
  try {
    const info = await runOf({ ...link, run })
    if (info !== null) return goInto(link, info)
  } catch (error) {
    return tell(
      'error',
      `The link was not followed: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  waiting = { ...link, run }
  tell(
    'warning',
    `The link is to the run ${run.name}, which is not known here. Open its bundle, and the link is followed.`,
  )
}

/** Follows a link that waits for its run once that is opened. Once. */
export const followWaitingLinks = (): void => {
  useSession.subscribe(({ openRun }) => {
    if (waiting === null || openRun === null) return
    const link = waiting
    if (!isSame(link.run, openRun)) return
    waiting = null
    // After all that opening it does.
    queueMicrotask(() => goInto(link, openRun))
  })
}
