import type { Place } from './place.ts'
import { NO_SELECTION, type Selection } from './selection.ts'
import { VIEW_IDS, type ViewId } from './view.ts'
import type { Zoom } from './zoom.ts'

/** The run that a link is to. By its id on the machine where the link was made, elsewhere by name and time. */
export interface LinkedRun {
  readonly id: string
  readonly name: string
  /** When it was made, as its manifest says. */
  readonly made: string
}

/** A place as a link has it; without run and dump it is about whatever is open. */
export type Link = Omit<Place, 'run'> & { readonly run: LinkedRun | null }

export type ParsedLink =
  | { readonly ok: true; readonly link: Link }
  /** `why` goes on a sentence: `it has ...`. */
  | { readonly ok: false; readonly why: string }

/** The same limit stands in main/desktop/links.ts. */
const MOST_CHARACTERS = 4000
const MOST_NAME = 200
const BEGINNING = 'dcpscope://open?'

/** Parts of the selection by their names in a link. */
export const PARTS: Readonly<Record<keyof Selection, string>> = {
  step: 'step',
  layer: 'layer',
  rank: 'rank',
  request: 'request',
  qIndex: 'query',
  head: 'head',
  token: 'token',
  page: 'page',
  timeNs: 'at',
  context: 'context',
  concurrency: 'concurrency',
}
const PART_NAMES = Object.entries(PARTS) as [keyof Selection, string][]

const RUN = ['run', 'name', 'made'] as const
const ZOOM = ['from', 'to'] as const
/** Every field of a link. */
export const FIELDS: readonly string[] = ['view', 'dump', 'with', ...RUN, ...ZOOM, ...Object.values(PARTS)]

const SHAPES: Readonly<Record<string, RegExp>> = {
  run: /^[0-9a-f]{24}$/,
  // Shown to a person: one line of bounded length.
  name: /^[^\p{C}]{1,200}$/u,
  made: /^[^\p{C}]{0,40}$/u,
  dump: /^dump-[0-9a-f]{24}$/,
  with: /^(dump-)?[0-9a-f]{24}$/,
  at: /^-?\d{1,15}$/,
  from: /^-?\d{1,15}$/,
  to: /^-?\d{1,15}$/,
}
const COUNT = /^\d{1,15}$/

/** What a link says of a run: its name on one line, as bundles may come with any. */
export const linkedRun = (id: string, name: string, made: string): LinkedRun => {
  const line = [...name.replace(/\p{C}/gu, '')].slice(0, MOST_NAME / 2).join('')
  return { id, name: line === '' ? 'unnamed' : line, made: made.replace(/\p{C}/gu, '').slice(0, 40) }
}

/** A link to a place, to be followed on this machine and, where the bundle of its run lies there too, on others. */
export const linkText = ({ view, run, dump, other, selection, zoom }: Link): string => {
  const fields = new URLSearchParams({ view })
  if (run !== null) {
    fields.set('run', run.id)
    fields.set('name', run.name)
    fields.set('made', run.made)
  }
  if (dump !== null) fields.set('dump', dump)
  if (other !== null) fields.set('with', other)
  for (const [key, name] of PART_NAMES) {
    const value = selection[key]
    if (value !== null) fields.set(name, String(Math.round(value)))
  }
  if (zoom !== null) {
    fields.set('from', String(Math.round(zoom[0])))
    fields.set('to', String(Math.round(zoom[1])))
  }
  return BEGINNING + fields.toString()
}

const isView = (name: string | null): name is ViewId => VIEW_IDS.some((id) => id === name)

const refused = (why: string): ParsedLink => ({ ok: false, why })

/** Reads a link that came from anywhere: only known fields, each once and of its shape, and nothing that names a path. */
export const parseLink = (text: string): ParsedLink => {
  if (text.length > MOST_CHARACTERS) return refused(`it is longer than ${MOST_CHARACTERS} characters`)
  // Systems put a slash behind the first word.
  const query = /^dcpscope:\/\/open\/?\?([\x21-\x7e]*)$/.exec(text)?.[1]
  if (query === undefined) return refused('it is no link to a place in dcpscope')
  const fields = new URLSearchParams(query)
  const names = [...fields.keys()]
  const unknown = names.find((name) => !FIELDS.includes(name))
  if (unknown !== undefined) return refused('it has a field that is not known here')
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) return refused(`it says ${twice} twice`)
  const view = fields.get('view')
  if (!isView(view)) return refused('it names no view that is known here')
  const wrong = names.find((name) => name !== 'view' && !(SHAPES[name] ?? COUNT).test(fields.get(name) ?? ''))
  if (wrong !== undefined) return refused(`its ${wrong} is not valid`)
  for (const group of [RUN, ZOOM]) {
    const missing = group.find((name) => !fields.has(name))
    if (missing !== undefined && group.some((name) => fields.has(name)))
      return refused(`its ${missing} is missing`)
  }
  const zoom = zoomOfFields(fields)
  if (zoom !== null && zoom[0] >= zoom[1]) return refused('what it shows ends before it begins')
  return {
    ok: true,
    link: {
      view,
      run: runOfFields(fields),
      dump: fields.get('dump'),
      other: fields.get('with'),
      selection: selectionOf(fields),
      zoom,
    },
  }
}

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text))

const selectionOf = (fields: URLSearchParams): Selection => ({
  ...NO_SELECTION,
  ...Object.fromEntries(PART_NAMES.map(([key, name]) => [key, numberOf(fields.get(name))])),
})

const zoomOfFields = (fields: URLSearchParams): Zoom => {
  const [from, to] = [numberOf(fields.get('from')), numberOf(fields.get('to'))]
  return from === null || to === null ? null : [from, to]
}

const runOfFields = (fields: URLSearchParams): LinkedRun | null => {
  const [id, name, made] = RUN.map((field) => fields.get(field))
  return id == null || name == null || made == null ? null : { id, name, made }
}
