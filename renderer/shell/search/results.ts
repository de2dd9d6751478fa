import { localIndex, owner } from '../../../app/dcp/ownership.ts'
import { columnOf, virtualPageTokens } from '../../../app/dcp/pages.ts'
import type { Paging } from '../../../app/dcp/types.ts'
import type { RunInfo, StoreParams, StoreResult } from '../../../app/protocol/store.ts'
import { contextLens, lengthAtStep, restarts } from '../../../app/run/engine-config.ts'
import { measuredLayers } from '../../../app/run/shape.ts'
import { formatInt, formatNs } from '../../drawing/format.ts'
import { sourceNote, withSource } from '../../drawing/provenance.ts'
import type { Selection } from '../../state/selection.ts'
import type { ViewId } from '../../state/view.ts'
import type { Zoom } from '../../state/zoom.ts'
import type { Choice } from '../ChoiceBox.tsx'
import type { Numbered, Terms } from './terms.ts'

/** Something that was found, and where it is. */
export interface Found extends Choice {
  readonly view: ViewId
  readonly selection: Partial<Selection>
  readonly zoom?: Zoom
}

/** Where a person is who searches. */
export interface Ground {
  readonly info: RunInfo
  readonly view: ViewId
  readonly selection: Selection
}

/** Most of a kind that are listed. */
const MOST = 30
const MOST_REQUESTS = 6
/** Times of its own length that are shown on either side of a span. */
const AROUND = 4

const found = (kind: string, title: string, view: ViewId, selection: Partial<Selection>): Found => ({
  id: `${kind} ${title}`,
  title,
  at: [],
  kind,
  keys: [],
  enabled: true,
  view,
  selection,
})

const missing = (sentence: string): Found => ({ ...found('Not there', sentence, 'run', {}), enabled: false })

/** Kinds of number that are parts of the selection themselves, and the views that show them, the usual one first. */
const PARTS = {
  step: { key: 'step', views: ['timeline', 'ownership', 'merge'] },
  layer: { key: 'layer', views: ['timeline', 'merge'] },
  rank: { key: 'rank', views: ['timeline', 'ownership', 'merge'] },
  request: { key: 'request', views: ['ownership', 'merge'] },
  query: { key: 'qIndex', views: ['merge'] },
  head: { key: 'head', views: ['merge'] },
} as const satisfies Partial<Record<Numbered, { key: keyof Selection; views: readonly ViewId[] }>>
type Part = keyof typeof PARTS
const PART_NAMES = Object.keys(PARTS) as Part[]

/** The shown view where it shows all the parts, else the usual one of the last that has one. */
const viewOf = (parts: readonly Part[], shown: ViewId): ViewId => {
  const shows = (view: ViewId): boolean =>
    parts.every((part) => PARTS[part].views.some((one) => one === view))
  return [shown, ...parts.flatMap((part) => PARTS[part].views)].find(shows) ?? 'merge'
}

const countOf = (part: Part, { manifest, steps, ranks }: RunInfo): number => {
  const { config } = manifest
  switch (part) {
    case 'step':
      return steps
    case 'layer':
      return measuredLayers(config)
    case 'rank':
      return ranks
    case 'request':
      return contextLens(config).length
    case 'query':
      return config.workload.qLen
    case 'head':
      return config.model.heads
  }
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const partsFound = (parts: readonly Part[], numbers: Terms['numbers'], { view }: Ground): Found => {
  const selection = Object.fromEntries(parts.map((part) => [PARTS[part].key, numbers[part]]))
  const words = parts.map((part) => `${part} ${formatInt(numbers[part] ?? 0)}`).join(', ')
  // A time of before lies in another step or rank.
  return found(capital(parts.at(-1) ?? ''), capital(words), viewOf(parts, view), {
    timeNs: null,
    ...selection,
  })
}

const pagingOf = ({ manifest }: RunInfo): Paging => ({
  dcp: manifest.config.parallel.dcpSize,
  interleave: manifest.config.parallel.interleave,
  page: manifest.config.cache.pageSize,
})

/** The step at which lengths are meant: the named, the selected, or the newest one. */
const stepOf = ({ numbers }: Terms, { info, selection }: Ground): number =>
  Math.min(numbers.step ?? selection.step ?? info.steps - 1, Math.max(0, info.steps - 1))

interface Row {
  readonly request: number
  readonly len: number
}

/** The named request, else all, with their lengths; those first that a person is at. */
const rowsOf = (terms: Terms, ground: Ground): readonly Row[] => {
  const { config } = ground.info.manifest
  const contexts = contextLens(config)
  const grown = lengthAtStep(config, 0, stepOf(terms, ground)) - (contexts[0] ?? 0)
  const { request } = terms.numbers
  const all = contexts.map((context, i) => ({ request: i, len: context + grown }))
  const wanted = request === undefined ? all : all.filter((row) => row.request === request)
  const at = ground.selection.request
  return wanted.sort((a, b) => Number(b.request === at) - Number(a.request === at))
}

const stepPart = ({ numbers }: Terms): Partial<Selection> =>
  numbers.step === undefined ? {} : { step: numbers.step }

/** A token of each request that has it; of a bare number only of the first. */
const tokensFound = (token: number, most: number, terms: Terms, ground: Ground): readonly Found[] => {
  const { config } = ground.info.manifest
  return rowsOf(terms, ground)
    .filter(({ len }) => token < len)
    .slice(0, most)
    .map(({ request }) => {
      const prompt = restarts(config) ? { prompt: contextLens(config)[request] ?? 0 } : {}
      const paging = { ...pagingOf(ground.info), ...prompt }
      return found(
        'Token',
        `Token ${formatInt(token)} of request ${request}: rank ${owner(token, paging)}, local ${formatInt(localIndex(token, paging))}, virtual page ${formatInt(columnOf(token, paging))}`,
        'ownership',
        { ...stepPart(terms), request, token },
      )
    })
}

const columnsFound = (column: number, terms: Terms, ground: Ground): readonly Found[] => {
  const tokens = virtualPageTokens(pagingOf(ground.info))
  return rowsOf(terms, ground)
    .filter(({ len }) => column * tokens < len)
    .slice(0, MOST_REQUESTS)
    .map(({ request, len }) =>
      found(
        'Virtual page',
        `Virtual page ${formatInt(column)} of request ${request}: ${tokenRange(column, tokens, len)}`,
        'pages',
        { ...stepPart(terms), request, token: column * tokens },
      ),
    )
}

const tokenRange = (column: number, tokens: number, len: number): string =>
  `tokens ${formatInt(column * tokens)} to ${formatInt(Math.min(len, (column + 1) * tokens) - 1)}`

/** What a number of which nothing is said may be. */
const bareFound = (bare: number, terms: Terms, ground: Ground): readonly Found[] => [
  ...(['step', 'request', 'rank', 'layer'] as const)
    .filter((part) => bare < countOf(part, ground.info))
    .map((part) => partsFound([part], { [part]: bare }, ground)),
  ...tokensFound(bare, 1, terms, ground),
]

/** What can be found without the trace: places that numbers name, as far as the run has them. */
export const placesFound = (terms: Terms, ground: Ground): readonly Found[] => {
  const { numbers, bare, words } = terms
  const parts = PART_NAMES.filter((part) => numbers[part] !== undefined)
  const beyond = parts.filter((part) => (numbers[part] ?? 0) >= countOf(part, ground.info))
  if (beyond.length > 0)
    return beyond.map((part) => {
      const count = countOf(part, ground.info)
      const has = count === 0 ? `has no ${part} yet` : `has ${part} 0 to ${formatInt(count - 1)}`
      return missing(`No ${part} ${formatInt(numbers[part] ?? 0)}: the run ${has}`)
    })
  const { token, column, page } = numbers
  const tokens = token === undefined ? [] : tokensFound(token, MOST_REQUESTS, terms, ground)
  const columns = column === undefined ? [] : columnsFound(column, terms, ground)
  const longest = Math.max(0, ...rowsOf(terms, ground).map(({ len }) => len))
  const lacks = (what: string): Found =>
    missing(
      `No ${what} at step ${formatInt(stepOf(terms, ground))}: the longest request has ${formatInt(longest)} tokens`,
    )
  const other = words.length > 0 || token !== undefined || column !== undefined || page !== undefined
  return [
    ...tokens,
    ...(token !== undefined && tokens.length === 0 ? [lacks(`token ${formatInt(token)}`)] : []),
    ...columns,
    ...(column !== undefined && columns.length === 0 ? [lacks(`virtual page ${formatInt(column)}`)] : []),
    ...(parts.length === 0 || other ? [] : [partsFound(parts, numbers, ground)]),
    ...(bare === null ? [] : bareFound(bare, terms, ground)),
  ]
}

/** What to ask the store for; null where it knows nothing of it. */
export const questionOf = (
  run: string,
  { numbers, bare, stages, words }: Terms,
): StoreParams<'find'> | null => {
  const { step, layer, rank, request, token, column } = numbers
  const place = [step, layer, rank, request].some((number) => number !== undefined)
  const page = numbers.page ?? bare
  // A place alone also finds what happened there.
  const sought =
    words.length === 0 && place && token === undefined && column === undefined ? ['events'] : words
  if (stages.length === 0 && page === null && sought.length === 0) return null
  return {
    run,
    stages: [...stages],
    page,
    words: [...sought],
    step: step ?? null,
    layer: layer ?? null,
    rank: rank ?? null,
    request: request ?? null,
    limit: MOST,
  }
}

type Answer = StoreResult<'find'>

const spanFound = (span: Answer['spans'][number]): Found => {
  const { rank, step, layer, stage, startNs, durNs } = span
  const place = { step, rank, timeNs: startNs, ...(layer < 0 ? {} : { layer }) }
  const where = [`rank ${rank}`, `step ${formatInt(step)}`, ...(layer < 0 ? [] : [`layer ${layer}`])].join(
    ', ',
  )
  return {
    ...found(
      'Span',
      `${stage}, ${where}: ${withSource(formatNs(durNs), sourceNote([span.provenance]))}`,
      'timeline',
      place,
    ),
    id: `span ${rank} ${startNs} ${stage}`,
    zoom: [startNs - AROUND * durNs, startNs + (AROUND + 1) * durNs],
  }
}

const pageFound = (
  page: number,
  { request, column, step }: Answer['pages'][number],
  info: RunInfo,
): Found => {
  const tokens = virtualPageTokens(pagingOf(info))
  const last = Math.max(step, info.steps - 1)
  const range = tokenRange(column, tokens, lengthAtStep(info.manifest.config, request, last))
  return found(
    'Page',
    `Page ${formatInt(page)}: virtual page ${formatInt(column)} of request ${request}, ${range}, from step ${formatInt(step)}`,
    'pages',
    { request, token: column * tokens, page },
  )
}

const eventFound = (event: Answer['events'][number], i: number): Found => {
  const { step, layer, rank, request, kind, severity, message } = event
  return {
    ...found(`Event, ${severity}`, message, 'timeline', {
      step,
      layer: layer < 0 ? null : layer,
      rank,
      request,
      timeNs: null,
    }),
    id: `event ${i} ${step} ${kind}`,
  }
}

const noteFound = (note: Answer['notes'][number]): Found => {
  const { rank, step, layer, stage, startNs, durNs, text } = note
  return {
    ...found('Note', `${text} (${stage}, rank ${rank}, step ${formatInt(step)})`, 'timeline', {
      step,
      rank,
      timeNs: startNs,
      ...(layer < 0 ? {} : { layer }),
    }),
    id: `note ${rank} ${startNs} ${stage}`,
    zoom: [startNs - AROUND * durNs, startNs + (AROUND + 1) * durNs],
  }
}

/** Said below a list that is not whole. */
const more = (count: number, which: string): readonly Found[] =>
  count < MOST
    ? []
    : [
        {
          ...missing(`These are the ${MOST} ${which}; name a step, rank, layer or request for others`),
          kind: 'More',
        },
      ]

/** What the store found, as results. */
export const traceFound = (
  question: StoreParams<'find'>,
  { pages, spans, events, notes }: Answer,
  info: RunInfo,
): readonly Found[] => [
  ...pages.map((page) => pageFound(question.page ?? 0, page, info)),
  ...more(pages.length, 'first uses of the page'),
  ...spans.map(spanFound),
  ...more(spans.length, 'longest spans'),
  ...events.map(eventFound),
  ...more(events.length, 'first events'),
  ...notes.map(noteFound),
  ...more(notes.length, 'first notes'),
]
