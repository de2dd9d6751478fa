import { pagesText, type Verdict } from './guard.ts'
import type { EmptyRow, MergeSemantics, Profile, QueryRows, Transport } from './profile.ts'

/** Semantics of profiles in words: `short` for a cell of a table, `long` for a sentence. */
export interface SemanticRow {
  readonly id: string
  readonly title: string
  readonly short: (profile: Profile) => string
  readonly long: (profile: Profile) => string
}

const EMPTY_ROWS: Readonly<Record<EmptyRow, readonly [short: string, long: string]>> = {
  neutral: ['-inf', 'out 0, lse -inf'],
  unwritten: ['unwr.', 'unwritten: what was in memory before'],
  plusInf: ['+inf', 'out 0, lse +inf'],
  nan: ['NaN', 'out NaN, lse -inf'],
}

const QUERY_ROWS: Readonly<Record<QueryRows, readonly [short: string, long: string]>> = {
  single: ['1', 'one query token of a request'],
  bound: ['bound', 'several in one call, each row with a global bound of its own'],
  flattened: ['rows', 'several, each as a row of its own with its local length'],
}

const LAYOUT_WORDS = 'T query rows, B requests of q rows each, H gathered heads'

const joined = (words: readonly (string | number)[]): string => words.join(', ')

const byTransport = (values: Partial<Readonly<Record<Transport, string>>>): string => {
  const all = Object.entries(values)
  const [first] = all
  if (first === undefined) return ''
  return all.every(([, value]) => value === first[1])
    ? first[1]
    : all.map(([comm, value]) => `${comm} ${value}`).join(', ')
}

const COUNTERS = {
  gathered: ['H', 'sized by gathered heads, local heads times dcp size'],
  none: ['none', 'the kernel is handed none'],
  unknown: ['?', 'not known'],
} as const

const PAD_ROWS = {
  0: 'length 0: empty on every rank',
  1: 'length 1: rank 0 has its one key, all others are empty',
  unknown: 'not known',
} as const

const ZERO_WEIGHT: Readonly<Record<MergeSemantics['zeroWeight'], string>> = {
  dropped: 'dropped',
  multiplied: 'multiplied, so that NaN stays NaN',
  unverified: 'unverified',
}

const wireText = ({ wire }: MergeSemantics): string => byTransport(wire) || 'as configured'

const pagesShort = ({ semantics: { pages } }: Profile): string =>
  'multipleOf' in pages
    ? pages.multipleOf === 1
      ? 'any'
      : `n·${pages.multipleOf}`
    : 'divides' in pages
      ? `≤${pages.divides}`
      : pages.length > 2
        ? `${pages[0]}–${pages.at(-1)}`
        : pages.join(' ')

const INTERLEAVE = {
  one: ['1', '1 alone'],
  any: ['any', 'any that divides the page'],
  page: ['page', 'the tokens of a page'],
} as const

export const SEMANTIC_ROWS: readonly SemanticRow[] = [
  {
    id: 'attention',
    title: 'Attention',
    short: ({ semantics }) =>
      ({ mla: 'MLA', gqa: 'GQA', 'sparse mla': 'DSA', any: 'any' })[semantics.attention],
    long: ({ semantics }) =>
      ({
        mla: 'MLA: one latent KV vector for all heads',
        gqa: 'grouped-query attention',
        'sparse mla': 'MLA over the keys that an indexer chose (DSA)',
        any: 'MLA, dense or over the keys that an indexer chose, and grouped-query or multi-head attention',
      })[semantics.attention],
  },
  {
    id: 'lse-base',
    title: 'lse base',
    short: ({ semantics: { lse } }) => `${lse.base}${lse.verified ? '' : '?'}`,
    long: ({ semantics: { lse } }) =>
      `${lse.base}${lse.verified ? '' : lse.carried === true ? ', unverified; the merge reads what travels with the partial, in whatever base' : ', which the merge assumes; what the kernel writes is unverified'}`,
  },
  {
    id: 'lse-type',
    title: 'lse type',
    short: ({ semantics: { lse } }) => (lse.dtype === 'fp32' ? 'fp32' : 'query'),
    long: ({ semantics: { lse } }) =>
      lse.dtype === 'fp32'
        ? 'fp32'
        : 'the type of the query: in bf16 up to 3.2% error of a weight for lse of magnitude 8 to 16',
  },
  {
    id: 'lse-layout',
    title: 'lse layout',
    short: ({ semantics: { lse } }) => lse.layout.replace('*', '·'),
    long: ({ semantics: { lse } }) =>
      `${lse.layout} (${LAYOUT_WORDS}${lse.layout === '[B,pad]' ? '; pad: what heads are padded to' : ''})`,
  },
  {
    id: 'empty-row',
    title: 'Row without keys',
    short: ({ semantics }) => EMPTY_ROWS[semantics.emptyRow][0],
    long: ({ semantics }) => EMPTY_ROWS[semantics.emptyRow][1],
  },
  {
    id: 'neutralised',
    title: 'Made neutral by',
    short: ({ semantics }) => (semantics.neutralisedBy === 'nothing' ? 'no' : semantics.neutralisedBy),
    long: ({ semantics }) => semantics.neutralised,
  },
  {
    id: 'query-rows',
    title: 'Query tokens',
    short: ({ semantics }) => QUERY_ROWS[semantics.queryRows][0],
    long: ({ semantics }) => QUERY_ROWS[semantics.queryRows][1],
  },
  {
    id: 'interleave-of',
    title: 'Interleave',
    short: ({ semantics }) => INTERLEAVE[semantics.interleave][0],
    long: ({ semantics }) =>
      `${INTERLEAVE[semantics.interleave][1]}${semantics.restartsAfterPrompt === true ? '; generated tokens begin anew at rank 0' : ''}`,
  },
  {
    id: 'pages',
    title: 'Pages',
    short: pagesShort,
    long: ({ semantics: { pages } }) =>
      'multipleOf' in pages && pages.multipleOf === 1 ? 'any' : `${pagesText(pages)} tokens`,
  },
  {
    id: 'kv-types',
    title: 'KV types',
    short: ({ semantics: { kvTypes } }) =>
      kvTypes.length > 2
        ? 'any'
        : kvTypes
            .map((type) => ({ fp32: 'fp32', bf16: 'bf16', fp8: 'fp8', fp8_ds_mla: 'ds' })[type])
            .join(' '),
    long: ({ semantics }) => joined(semantics.kvTypes),
  },
  {
    id: 'archs',
    title: 'Architecture',
    short: ({ semantics: { archs } }) => (archs.length > 1 ? 'any' : (archs[0] ?? '')),
    long: ({ semantics }) => joined(semantics.archs),
  },
  {
    id: 'transports',
    title: 'Transports',
    short: ({ semantics: { transports } }) =>
      transports.length > 1 ? `${transports.length}` : (transports[0] ?? ''),
    long: ({ semantics }) => joined(semantics.transports),
  },
  {
    id: 'wire',
    title: 'Partials in flight',
    short: ({ semantics: { merge } }) => merge.wire.ag_rs ?? merge.wire.a2a ?? 'conf.',
    long: ({ semantics: { merge } }) => wireText(merge),
  },
  {
    id: 'merge-base',
    title: 'Base of the merge',
    short: ({ framework }) =>
      ({ dcpscope: 'tag', SGLang: 'name', vLLM: 'flag', 'TensorRT-LLM': 'stats' })[framework],
    long: ({ semantics: { merge } }) => merge.base,
  },
  {
    id: 'zero-weight',
    title: 'Payload of weight 0',
    short: ({ semantics: { merge } }) =>
      ({ dropped: 'drop', multiplied: '0·x', unverified: '?' })[merge.zeroWeight],
    long: ({ semantics: { merge } }) =>
      `${ZERO_WEIGHT[merge.zeroWeight]}${merge.zeroWeightBefore === undefined ? '' : `; ${merge.zeroWeightBefore}`}`,
  },
  {
    id: 'all-empty',
    title: 'All ranks empty',
    short: ({ semantics: { merge } }) => {
      const values = Object.values(merge.allEmpty)
      return values.includes('NaN') ? 'NaN' : values.includes('unverified') ? '?' : '-inf'
    },
    long: ({ semantics: { merge } }) => byTransport(merge.allEmpty),
  },
  {
    id: 'head-padding',
    title: 'Head padding',
    short: ({ semantics: { headPadding } }) => headPadding.join(' ') || 'no',
    long: ({ semantics: { headPadding } }) =>
      headPadding.length === 0 ? 'none' : `gathered heads pad to ${joined(headPadding)}`,
  },
  {
    id: 'split-counters',
    title: 'Split-KV counters',
    short: ({ semantics: { splitCounters } }) => COUNTERS[splitCounters ?? 'unknown'][0],
    long: ({ semantics: { splitCounters } }) => COUNTERS[splitCounters ?? 'unknown'][1],
  },
  {
    id: 'pad-row',
    title: 'Padding row',
    short: ({ semantics: { padRowLength } }) => `${padRowLength ?? '?'}`,
    long: ({ semantics: { padRowLength } }) => PAD_ROWS[padRowLength ?? 'unknown'],
  },
]

/** Where the facts of a profile and of its merge were read. */
export const sourcesOf = ({ sources, semantics }: Profile): readonly string[] => [
  ...new Set([...sources, semantics.merge.source]),
]

export const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  accepted: 'accepted',
  fallback: 'replaced by a fallback',
  refused: 'refused',
}
